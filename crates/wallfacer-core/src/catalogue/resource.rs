//! A resource as listed, and a template that makes more of them.

use serde_json::{Map, Value};

use super::entry::{Entry, optional_text, required_text};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    pub uri: String,
    pub name: Option<String>,
    pub title: Option<String>,
    pub description: Option<String>,
    pub mime_type: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub uri_template: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub mime_type: Option<String>,
}

impl Entry for Resource {
    const METHOD: &'static str = "resources/list";
    const KEY: &'static str = "resources";

    fn read(object: &Map<String, Value>) -> Result<Resource, String> {
        Ok(Resource {
            uri: required_text(object, "uri")?,
            name: optional_text(object, "name"),
            title: optional_text(object, "title"),
            description: optional_text(object, "description"),
            mime_type: optional_text(object, "mimeType"),
        })
    }
}

impl Entry for Template {
    const METHOD: &'static str = "resources/templates/list";
    const KEY: &'static str = "resourceTemplates";

    fn read(object: &Map<String, Value>) -> Result<Template, String> {
        Ok(Template {
            uri_template: required_text(object, "uriTemplate")?,
            name: optional_text(object, "name"),
            description: optional_text(object, "description"),
            mime_type: optional_text(object, "mimeType"),
        })
    }
}
