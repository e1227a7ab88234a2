//! Guesses from the files of a project which MCP server it is and how that server is started.

use serde_json::Value;
use std::path::Path;
use toml::Table;
use wallfacer_core::target::{ClientFiles, Command, Endpoint, EndpointKind, Reach, Target};

/// A project as far as init looks into it.
pub(super) struct Project<'a> {
    /// The text of a file in the directory.
    pub read: &'a dyn Fn(&str) -> Option<String>,
    pub clients: &'a ClientFiles<'a>,
    pub directory: &'a Path,
}

/// A server to put into the configuration.
#[derive(Debug)]
pub(super) struct Server {
    pub reach: Reach,
    /// Where that was learned, and what is left to do.
    pub because: String,
    pub setup: Setup,
}

/// What a fresh machine has to do before the server can be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setup {
    Nothing,
    Node {
        packages: Packages,
        builds: bool,
    },
    /// With the virtual environment that its packages go into.
    Python {
        packages: Requirements,
        venv: Option<&'static str>,
    },
    Uv,
    Cargo,
    Go,
    Maven,
    Gradle,
    Composer,
    DotNet,
    Docker,
}

/// What installs the packages of a Node project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packages {
    Npm,
    /// With the versions of its lock file; without one, it refuses.
    NpmLocked,
    Pnpm,
    Yarn,
}

/// Where a Python project says what it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Requirements {
    Project,
    File,
    Unknown,
}

const ADDRESS: &str = "http://localhost:8000/mcp";
/// Files of a directory that are looked at.
const MOST_FILES: usize = 1_000;
/// A virtual environment that lies in the project, where its packages are.
const VENVS: [&str; 2] = [".venv", "venv"];
const PYTHON_FILES: [&str; 4] = ["server.py", "main.py", "app.py", "src/server.py"];
const NODE_FILES: [&str; 4] = ["server.js", "index.js", "dist/index.js", "build/index.js"];

impl Project<'_> {
    pub fn server(&self, http: bool, stdio: bool) -> Server {
        if http {
            return self
                .of_clients(|reach| reach.command().is_none())
                .unwrap_or_else(|| self.unknown_address());
        }
        let own = self.node().or_else(|| self.python()).or_else(|| self.cargo()).or_else(|| self.go());
        let own = own.or_else(|| self.java()).or_else(|| self.php()).or_else(|| self.dot_net());
        let own = own.or_else(|| self.docker());
        own.or_else(|| self.of_clients(|reach| !stdio || reach.command().is_some()))
            .unwrap_or_else(|| self.unknown_command())
    }

    /// The nearest server of a client file that is of the wanted kind and holds no secret in plain text.
    fn of_clients(&self, wanted: impl Fn(&Reach) -> bool) -> Option<Server> {
        self.clients.names().into_iter().find_map(|(name, file)| {
            let reach = self.clients.find(&name).ok().map(|found| found.reach).filter(&wanted)?;
            let has_secrets =
                Target::new(reach.clone()).secrets().iter().any(|secret| !secret.contains("${"));
            let others = self.other_names(&name);
            let origin = format!("the server `{name}` of {}{others}", file.display());
            (!has_secrets).then(|| Server::new(self.relative(reach), &origin, Setup::Nothing))
        })
    }

    /// Which other servers the client files name, and how each is tested.
    fn other_names(&self, taken: &str) -> String {
        let names = self.clients.names().into_iter().map(|(name, _)| name).filter(|name| name != taken);
        let names: Vec<_> = names.map(|name| format!("`wallfacer check --server {name}`")).collect();
        if names.is_empty() { String::new() } else { format!("; the others: {}", names.join(", ")) }
    }

    /// Paths below the project as they are written in a file that lies there.
    fn relative(&self, mut reach: Reach) -> Reach {
        if let Reach::Command(command) = &mut reach {
            if let Ok(below) = Path::new(&command.program).strip_prefix(self.directory) {
                command.program = Path::new(".").join(below).into();
            }
            command.cwd = command.cwd.take().and_then(|cwd| {
                let below = cwd.strip_prefix(self.directory).map(Path::to_owned).unwrap_or(cwd);
                (!below.as_os_str().is_empty()).then_some(below)
            });
        }
        reach
    }

    fn node(&self) -> Option<Server> {
        let package: Value = serde_json::from_str(&(self.read)("package.json")?).ok()?;
        let builds = package["scripts"]["build"].is_string();
        let setup = Setup::Node { packages: self.packages(), builds };
        let file = match (&package["bin"], &package["main"]) {
            (Value::String(file), _) => Some((file.as_str(), "its bin")),
            (Value::Object(bins), _) if !bins.is_empty() => {
                let named = package["name"].as_str().and_then(|name| bins.get(name.rsplit('/').next()?));
                named.or_else(|| bins.values().next()).and_then(Value::as_str).map(|file| (file, "its bin"))
            }
            (_, Value::String(file)) => Some((file.as_str(), "its main")),
            _ => None,
        };
        if let Some((file, what)) = file {
            return Some(self.node_file(file, &format!("package.json, {what}"), setup));
        }
        if package["scripts"]["start"].is_string() {
            // Without --silent npm writes a banner to standard output, where only messages may be.
            let command = Command::new("npm", ["run", "--silent", "start"]);
            return Some(Server::started(command, "package.json, its start script", setup));
        }
        let file = NODE_FILES.into_iter().find(|file| (self.read)(file).is_some())?;
        Some(self.node_file(file, "package.json", setup))
    }

    fn node_file(&self, file: &str, because: &str, setup: Setup) -> Server {
        let file = file.strip_prefix("./").unwrap_or(file);
        let command = match file.rsplit('.').next() {
            Some("ts" | "mts") => Command::new("npx", ["tsx", file]),
            _ => Command::new("node", [file]),
        };
        let absent = (self.read)(file).is_none();
        let advice = match setup {
            Setup::Node { builds: true, .. } if absent => {
                "; run `npm run build` first, the file is not there yet"
            }
            _ if absent => "; the file is not there yet",
            _ => "",
        };
        Server::started(command, &format!("{because}{advice}"), setup)
    }

    fn packages(&self) -> Packages {
        let has = |name: &str| self.directory.join(name).is_file();
        match () {
            () if has("pnpm-lock.yaml") => Packages::Pnpm,
            () if has("yarn.lock") => Packages::Yarn,
            () if has("package-lock.json") || has("npm-shrinkwrap.json") => Packages::NpmLocked,
            () => Packages::Npm,
        }
    }

    fn python(&self) -> Option<Server> {
        self.pyproject().or_else(|| {
            let file = PYTHON_FILES.into_iter().find(|file| (self.read)(file).is_some())?;
            let has_list = (self.read)("requirements.txt").is_some();
            let packages = if has_list { Requirements::File } else { Requirements::Unknown };
            let venv = self.venv();
            let python = venv.map_or("python3".to_owned(), |venv| format!("{venv}/bin/python"));
            let origin = match venv {
                Some(venv) => format!("{file} and {venv}"),
                None => file.to_owned(),
            };
            let setup = Setup::Python { packages, venv };
            Some(Server::started(Command::new(python, [file]), &origin, setup))
        })
    }

    fn venv(&self) -> Option<&'static str> {
        VENVS.into_iter().find(|venv| self.directory.join(venv).join("bin/python").exists())
    }

    fn pyproject(&self) -> Option<Server> {
        let manifest: Table = (self.read)("pyproject.toml")?.parse().ok()?;
        let project = manifest.get("project")?;
        let name = project.get("name")?.as_str()?;
        let scripts = project.get("scripts").and_then(toml::Value::as_table);
        let script = scripts.and_then(|scripts| script(scripts, name));
        let module = || vec!["-m".to_owned(), name.replace(['-', '.'], "_")];
        let words = |python: &str| match script {
            Some(script) => vec![script.to_owned()],
            None => [vec![python.to_owned()], module()].concat(),
        };
        if (self.read)("uv.lock").is_some() {
            let args = std::iter::once("run".to_owned()).chain(words("python3"));
            return Some(Server::started(Command::new("uv", args), "pyproject.toml", Setup::Uv));
        }
        let (mut words, venv) = match self.venv() {
            Some(venv) => (words("python"), Some(venv)),
            None => (words("python3"), None),
        };
        let pip = match venv {
            Some(venv) => {
                words[0] = format!("{venv}/bin/{}", words[0]);
                format!("{venv}/bin/pip")
            }
            None => "pip".to_owned(),
        };
        let origin = format!("pyproject.toml; install it with `{pip} install -e .` first");
        let setup = Setup::Python { packages: Requirements::Project, venv };
        Some(Server::started(Command::new(&words[0], &words[1..]), &origin, setup))
    }

    fn cargo(&self) -> Option<Server> {
        let manifest: Table = (self.read)("Cargo.toml")?.parse().ok()?;
        let package = manifest.get("package");
        let default = package.and_then(|package| package.get("default-run"));
        let bins = manifest.get("bin").and_then(toml::Value::as_array);
        let first = bins.filter(|_| default.is_none()).and_then(|bins| bins.first()?.get("name"));
        let bin = first.and_then(toml::Value::as_str).map(|name| ["--bin", name]);
        let args = ["run", "--quiet"].into_iter().chain(bin.into_iter().flatten());
        Some(Server::started(Command::new("cargo", args), "Cargo.toml", Setup::Cargo))
    }

    fn go(&self) -> Option<Server> {
        let module = (self.read)("go.mod")?;
        let name = module.lines().find_map(|line| line.strip_prefix("module "))?.trim().to_owned();
        let last = name.rsplit('/').next().unwrap_or(&name).to_owned();
        let below = [format!("cmd/{last}"), "cmd/server".to_owned(), "cmd/mcp-server".to_owned()];
        let below = below.into_iter().find(|folder| (self.read)(&format!("{folder}/main.go")).is_some());
        let package = match (below, (self.read)("main.go").is_some()) {
            (_, true) => ".".to_owned(),
            (Some(folder), false) => format!("./{folder}"),
            (None, false) => ".".to_owned(),
        };
        Some(Server::started(Command::new("go", ["run", package.as_str()]), "go.mod", Setup::Go))
    }

    fn java(&self) -> Option<Server> {
        if let Some(text) = (self.read)("pom.xml") {
            let artifact = element(without_parent(&text), "artifactId").unwrap_or("server");
            let version = element(without_parent(&text), "version").unwrap_or("1.0");
            let jar =
                element(&text, "finalName").map(str::to_owned).unwrap_or(format!("{artifact}-{version}"));
            let jar = format!("target/{jar}.jar");
            let origin = "pom.xml; build it with `mvn package` first, and correct the name of the jar if it is another";
            return Some(Server::started(Command::new("java", ["-jar", jar.as_str()]), origin, Setup::Maven));
        }
        let has = |name: &str| (self.read)(name).is_some();
        let file = ["build.gradle", "build.gradle.kts"].into_iter().find(|file| has(file))?;
        let gradle = if has("gradlew") { "./gradlew" } else { "gradle" };
        let command = Command::new(gradle, ["--quiet", "--console=plain", "run"]);
        Some(Server::started(command, file, Setup::Gradle))
    }

    fn php(&self) -> Option<Server> {
        let package: Value = serde_json::from_str(&(self.read)("composer.json")?).ok()?;
        let file = match &package["bin"] {
            Value::String(file) => Some(file.as_str()),
            Value::Array(files) => files.first().and_then(Value::as_str),
            _ => None,
        };
        let usual = ["server.php", "bin/server.php", "mcp-server.php", "index.php"];
        let file = file.or_else(|| usual.into_iter().find(|file| (self.read)(file).is_some()))?;
        let origin = "composer.json; run `composer install` first";
        Some(Server::started(Command::new("php", [file]), origin, Setup::Composer))
    }

    fn dot_net(&self) -> Option<Server> {
        let entries = std::fs::read_dir(self.directory).ok()?.take(MOST_FILES).flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let project = names.filter(|name| name.ends_with(".csproj")).min()?;
        let words = ["run", "--project", project.as_str(), "--verbosity", "quiet"];
        Some(Server::started(Command::new("dotnet", words), &project, Setup::DotNet))
    }

    /// A server that only an image knows how to start. Docker reaches outside of the sandbox, which is told.
    fn docker(&self) -> Option<Server> {
        (self.read)("Dockerfile")?;
        let name = self.directory.file_name().map(|name| name.to_string_lossy().to_lowercase());
        let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
        let image: String = name.unwrap_or_default().chars().map(plain).collect();
        let image = Some(image.trim_matches('-')).filter(|image| !image.is_empty()).unwrap_or("server");
        let origin = format!(
            "Dockerfile; build it with `docker build -t {image} .` first. The sandbox does not reach into a container: the command that the image runs tells more"
        );
        let command = Command::new("docker", ["run", "-i", "--rm", image]);
        Some(Server::started(command, &origin, Setup::Docker))
    }

    fn unknown_command(&self) -> Server {
        Server {
            reach: Reach::Command(Command::new("python3", ["server.py"])),
            because: format!(
                "nothing tells how the server is started; set `command` and `args` in it{}",
                self.others()
            ),
            setup: Setup::Nothing,
        }
    }

    fn unknown_address(&self) -> Server {
        let endpoint = Endpoint { url: ADDRESS.to_owned(), headers: vec![], kind: EndpointKind::Auto };
        Server {
            reach: Reach::Url(endpoint),
            because: format!(
                "reaches {ADDRESS}; set `url` in it if the server listens elsewhere{}",
                self.others()
            ),
            setup: Setup::Nothing,
        }
    }

    /// Servers that were left alone can still be tested where they stand.
    fn others(&self) -> String {
        let names: Vec<_> =
            self.clients.names().into_iter().map(|(name, _)| format!("`--server {name}`")).collect();
        if names.is_empty() { String::new() } else { format!(", or test {}", names.join(" or ")) }
    }
}

impl Server {
    fn started(command: Command, origin: &str, setup: Setup) -> Self {
        Self::new(Reach::Command(command), origin, setup)
    }

    fn new(reach: Reach, origin: &str, setup: Setup) -> Self {
        let verb = if reach.command().is_some() { "starts" } else { "reaches" };
        let target = Target::new(reach);
        let because = format!("{verb} `{}`, taken from {origin}", target.shown());
        Self { reach: target.reach, because, setup }
    }
}

/// The text of the first element of this name.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let behind = text.split_once(&format!("<{name}>"))?.1;
    let (value, _) = behind.split_once("</")?;
    Some(value.trim()).filter(|value| !value.is_empty() && !value.contains(['$', '/', '<']))
}

/// A project names its parent before itself, in the same words.
fn without_parent(text: &str) -> &str {
    text.split_once("</parent>").map_or(text, |(_, behind)| behind)
}

/// The script that is named like the project, else the first.
fn script<'a>(scripts: &'a Table, name: &str) -> Option<&'a str> {
    let found = scripts.keys().find(|script| script.as_str() == name).or_else(|| scripts.keys().next());
    found.map(String::as_str)
}
