//! Roots: folders of the machine that a trial's files know by a name and not by a path, so that a trial can be carried
//! to another folder, or another machine, and be executed there. The lab mounts each at `/tmp/h123-roots/NAME`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use nix::mount::{MsFlags, mount};
use serde::{Deserialize, Serialize};

use crate::files::refusal::Refusal;
use crate::files::surroundings;

/// In the enclosure's own `/tmp`.
pub const PLACE: &str = "/tmp/h123-roots";

/// `NAME=DIR` of the command line.
#[derive(Clone, Debug)]
pub struct Root {
    name: String,
    folder: PathBuf,
}

impl Root {
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, folder) = text.split_once('=').ok_or("NAME=DIR is wanted")?;
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
            return Err("a root's name may contain only letters and digits".into());
        }
        Ok(Self { name: name.into(), folder: folder.into() })
    }
}

/// All of a trial, and the folder in which its roles begin.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Roots {
    dir: PathBuf,
    named: BTreeMap<String, PathBuf>,
}

impl Roots {
    pub fn new(dir: &Path, given: &[Root]) -> Result<Self, Refusal> {
        let folder = |root: &Root| match root.folder.canonicalize() {
            Ok(folder) if folder.is_dir() => Ok((root.name.clone(), folder)),
            Ok(_) => Err(Refusal::input(format!("root {}: {} is not a folder", root.name, root.folder.display()))),
            Err(error) => {
                Err(Refusal::input(format!("root {}: cannot use {}: {error}", root.name, root.folder.display())))
            }
        };
        Ok(Self { dir: dir.to_path_buf(), named: given.iter().map(folder).collect::<Result<_, _>>()? })
    }

    /// None: of a trial whose files name no root.
    pub fn none(dir: &Path) -> Self {
        Self { dir: dir.to_path_buf(), named: BTreeMap::new() }
    }

    /// Where something is now that a role will find by this path.
    pub fn find(&self, path: &str) -> PathBuf {
        let mounted = Path::new(path).strip_prefix(PLACE).ok().and_then(|below| {
            let mut parts = below.components();
            let name = parts.next()?.as_os_str().to_str()?;
            Some(self.named.get(name)?.join(parts.as_path()))
        });
        mounted.unwrap_or_else(|| self.dir.join(path))
    }

    /// Whether a role will find this program, by its path or on `PATH`.
    pub fn has_program(&self, program: &str) -> bool {
        if program.contains('/') {
            return surroundings::is_program(&self.find(program));
        }
        surroundings::finds(program)
    }

    /// Their names and where the machine has them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.named.iter().map(|(name, folder)| (name.as_str(), folder.as_path()))
    }

    /// Where a root of this name is for the roles.
    pub fn place(name: &str) -> PathBuf {
        Path::new(PLACE).join(name)
    }

    /// Of the machine.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.named.values().map(PathBuf::as_path)
    }

    /// To be called inside an enclosure. What the machine has at that path is hidden there, and not touched.
    pub fn mount(&self) -> anyhow::Result<()> {
        if self.named.is_empty() {
            return Ok(());
        }
        // A link would lead out of the enclosure's /tmp.
        let _ = fs::remove_file(PLACE);
        fs::create_dir_all(PLACE).with_context(|| format!("creating {PLACE}"))?;
        // Open to all, whatever the umask: servers give up root for their workers.
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(Some("tmpfs"), PLACE, Some("tmpfs"), flags, Some("mode=755"))
            .with_context(|| format!("mounting {PLACE}"))?;
        for (name, folder) in &self.named {
            let target = Self::place(name);
            fs::create_dir(&target)?;
            let nothing: Option<&str> = None;
            let bind = MsFlags::MS_BIND | MsFlags::MS_REC;
            mount(Some(folder), &target, nothing, bind, nothing)
                .with_context(|| format!("mounting root {name}, {}", folder.display()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(given: &[&str]) -> Result<Roots, Refusal> {
        let parsed: Vec<_> = given.iter().map(|g| Root::parse(g).unwrap()).collect();
        Roots::new(Path::new("/trial"), &parsed)
    }

    #[test]
    fn paths_below_a_root_are_its_own_and_others_are_left_alone() {
        let roots = roots(&["bin=/usr/bin"]).unwrap();
        let found = |path| roots.find(path).display().to_string();
        assert_eq!(found("/tmp/h123-roots/bin/env"), "/usr/bin/env");
        assert_eq!(found("/tmp/h123-roots/other/env"), "/tmp/h123-roots/other/env");
        assert_eq!(found("/bin/sh"), "/bin/sh");
        assert_eq!(found("bin/sh"), "/trial/bin/sh");
    }

    #[test]
    fn a_root_is_a_name_and_a_folder_whatever_is_in_its_path() {
        for bad in ["tls", "=/usr", "a/b=/usr", "..=/usr"] {
            assert!(Root::parse(bad).is_err(), "{bad}");
        }
        let odd = Root::parse("tls=/a b:c=~d").unwrap();
        assert_eq!(odd.folder, Path::new("/a b:c=~d"));
        assert!(roots(&["tls=/nowhere"]).is_err());
        assert!(roots(&["tls=/etc/hostname"]).is_err());
    }
}
