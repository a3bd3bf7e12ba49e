//! Text of others, as a terminal may get it.

use std::fmt::Display;

/// With an escape for each control character but a line's end, and for those that turn text around or hide.
pub fn visible(text: &impl Display) -> String {
    let mut shown = String::new();
    for letter in text.to_string().chars() {
        if hides(letter) {
            shown.extend(letter.escape_unicode());
        } else {
            shown.push(letter);
        }
    }
    shown
}

fn hides(letter: char) -> bool {
    let formats = matches!(letter, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    formats || (letter.is_control() && letter != '\n' && letter != '\t')
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn what_commands_a_terminal_is_escaped() {
        let said = "a\tb\nc \u{1b}]0;x\u{7} \u{9b}31m \u{202e}gpj.exe é";
        let shown = visible(&said);
        assert_eq!(shown, "a\tb\nc \\u{1b}]0;x\\u{7} \\u{9b}31m \\u{202e}gpj.exe é");
    }
}
