//! Arguments as typed in, options as meant out.

/// Which eras the server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    Legacy,
    Modern,
    Both,
}

#[derive(Debug, Clone)]
pub struct Options {
    pub mode: String,
    pub era: Era,
}

impl Options {
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Options, String> {
        let mut arguments = arguments.into_iter();
        let mode = arguments.next().ok_or("the mode is missing")?;
        if !wallfacer_fixtures::modes().iter().any(|known| known.name == mode) {
            return Err(format!("there is no mode `{mode}`"));
        }
        let era = match mode.as_str() {
            "modern-only" => Era::Modern,
            "legacy-only" => Era::Legacy,
            _ => Era::Both,
        };
        let mut options = Options { mode, era };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--era" => options.era = named_era(arguments.next().as_deref())?,
                other => return Err(format!("`{other}` is not known")),
            }
        }
        Ok(options)
    }
}

fn named_era(name: Option<&str>) -> Result<Era, String> {
    match name {
        Some("legacy") => Ok(Era::Legacy),
        Some("modern") => Ok(Era::Modern),
        Some("both") => Ok(Era::Both),
        _ => Err("`--era` is legacy, modern or both".to_owned()),
    }
}
