//! What surrounds a role besides its files: the same variables, `/tmp` and working directory wherever and whenever the
//! trial is executed. A person's own program is started in the person's surroundings instead.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

/// Where a trial's folder is for its roles, in the enclosure's own `/tmp`.
pub const FOLDER: &str = "/tmp/h123-trial";
/// The umask of roles: servers that give up root must be able to read what was made before.
pub const UMASK: u32 = 0o022;
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The variables of a role that starts `program`, but for those that its trial gives it.
pub fn variables(program: &str) -> BTreeMap<String, String> {
    let path = path([program]);
    [("PATH", path.as_str()), ("HOME", "/tmp"), ("TMPDIR", "/tmp"), ("LANG", "C.UTF-8")]
        .map(|(name, value)| (name.into(), value.into()))
        .into()
}

/// A fixed `PATH`; where a program is only on ours, its folder comes last.
pub fn path<'a>(programs: impl IntoIterator<Item = &'a str>) -> String {
    let mut path = PATH.to_owned();
    for program in programs {
        if program.contains('/') || on(OsStr::new(&path), program).is_some() {
            continue;
        }
        let location = on(&env::var_os("PATH").unwrap_or_default(), program);
        if let Some(folder) = location.as_deref().and_then(Path::parent) {
            path = format!("{path}:{}", folder.display());
        }
    }
    path
}

/// Whether a role finds a program by its name alone.
pub fn finds(program: &str) -> bool {
    on(OsStr::new(PATH), program).is_some() || on(&env::var_os("PATH").unwrap_or_default(), program).is_some()
}

pub fn is_program(path: &Path) -> bool {
    access(path, AccessFlags::X_OK).is_ok() && path.is_file()
}

fn on(path: &OsStr, program: &str) -> Option<PathBuf> {
    let places = env::split_paths(path).map(|folder| folder.join(program));
    places.into_iter().find(|place| is_program(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_usual_places_adds_nothing_to_the_path() {
        assert_eq!(path(["sh", "env", "/opt/server", "h123-no-such-program"]), PATH);
        assert!(finds("sh") && !finds("h123-no-such-program"));
    }
}
