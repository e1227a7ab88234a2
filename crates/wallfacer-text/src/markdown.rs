//! Takes the meaning from links, images and HTML in a text that somebody may render as Markdown.

use crate::letter::code;

/// The text in which `[…](…)`, `![…](…)` and tags are plain words. An address that stands there as it is stays: it leads
/// where it says.
pub fn markdown(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied().unwrap_or(' ');
        let is_tag = letter == '<' && (next.is_ascii_alphabetic() || "/!?".contains(next));
        let is_link = before == ']' && "([".contains(letter);
        match is_tag || is_link {
            true => plain.push_str(&code(letter)),
            false => plain.push(letter),
        }
        before = letter;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_images_and_tags_are_words() {
        let text = "[a](http://x) ![b](y) [c][d] <img src=x> </p> <!-- --> a[0] < b `<` 1<2";
        let plain =
            "[a]\\x28http://x) ![b]\\x28y) [c]\\x5bd] \\x3cimg src=x> \\x3c/p> \\x3c!-- --> a[0] < b `<` 1<2";
        assert_eq!(markdown(text), plain);
    }
}
