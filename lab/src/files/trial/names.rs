//! Names in a trial file.

pub fn known_host(host: &str, hosts: &[String]) -> Result<(), String> {
    if hosts.iter().any(|h| h == host) {
        return Ok(());
    }
    Err(format!("host \"{host}\" is not in \"hosts\" ({})", hosts.join(", ")))
}
