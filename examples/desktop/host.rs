//! A host of `keel desktop` with nothing but Rust's standard library. `Keel::start` spawns the runtime and reads its
//! lines on a thread of their own; `request` sends one. Run as: host KEEL MESSAGE [FOLDER]
use std::io::{BufRead, BufReader, ErrorKind, Result, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{channel, Receiver};

pub struct Keel {
    child: Child,
    input: Option<ChildStdin>,
    pub lines: Receiver<String>,
    last: u64,
}

impl Keel {
    pub fn start(command: &str, folder: &str) -> Result<Keel> {
        let mut child = Command::new(command)
            .args(["desktop", "--cwd", folder])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take().expect("a pipe");
        let (send, lines) = channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(output);
            loop {
                let mut line = Vec::new();
                // Only the end of the output is the end: a reader that left at the first error would break the pipe.
                match reader.read_until(b'\n', &mut line) {
                    Ok(0) => break,
                    Ok(_) => {
                        let text = String::from_utf8_lossy(&line).trim_end().to_string();
                        if send.send(text).is_err() {
                            break;
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(error) => {
                        eprintln!("reading goes on: {error}");
                        std::thread::sleep(std::time::Duration::from_millis(10));
                    }
                }
            }
        });
        Ok(Keel { child, input, lines, last: 0 })
    }

    /// `fields` is what stands behind the kind, as JSON: `"message":"hello"`. Returns the id.
    pub fn request(&mut self, kind: &str, fields: &str) -> Result<String> {
        self.last += 1;
        let id = format!("r{}", self.last);
        let more = if fields.is_empty() { String::new() } else { format!(",{fields}") };
        let line = format!("{{\"id\":\"{id}\",\"kind\":\"{kind}\"{more}}}\n");
        let input = self.input.as_mut().ok_or(ErrorKind::BrokenPipe)?;
        input.write_all(line.as_bytes())?;
        input.flush()?;
        Ok(id)
    }

    /// Closes the input: what was asked is finished, then the runtime ends.
    pub fn finish(mut self) -> Result<i32> {
        drop(self.input.take());
        while self.lines.recv().is_ok() {}
        Ok(self.child.wait()?.code().unwrap_or(-1))
    }
}

/// A text as JSON has it.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for sign in text.chars() {
        match sign {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out + "\""
}

/// The first text of this name in a line. Enough for types, ids and tokens; a real shell takes a reader of JSON.
pub fn field(line: &str, name: &str) -> Option<String> {
    let start = line.find(&format!("\"{name}\":\""))? + name.len() + 4;
    let mut out = String::new();
    let mut signs = line[start..].chars();
    loop {
        match signs.next()? {
            '"' => return Some(out),
            '\\' => match signs.next()? {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                'u' => {
                    let code: String = signs.by_ref().take(4).collect();
                    out.push(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32).unwrap_or('?'));
                }
                other => out.push(other),
            },
            sign => out.push(sign),
        }
    }
}

fn main() -> Result<()> {
    let given: Vec<String> = std::env::args().collect();
    let folder = given.get(3).map(String::as_str).unwrap_or(".");
    let mut keel = Keel::start(&given[1], folder)?;
    // Every kind of request that needs no answer of a person.
    let mut open = vec![
        keel.request("get_status", "")?,
        keel.request("new_conversation", "")?,
        keel.request("user_message", &format!("\"message\":{}", quoted(&given[2])))?,
    ];
    let asked = open[2].clone();
    while !open.is_empty() {
        let line = keel.lines.recv().map_err(|_| ErrorKind::UnexpectedEof)?;
        let id = field(&line, "id").unwrap_or_default();
        match field(&line, "type").as_deref() {
            Some("token") => print!("{}", field(&line, "token").unwrap_or_default()),
            // This host cannot show a question: it says no.
            Some("ask") => {
                let ask = quoted(&field(&line, "askId").unwrap_or_default());
                open.push(keel.request("answer_ask", &format!("\"ask_id\":{ask},\"approved\":false"))?);
            }
            Some(end @ ("done" | "error")) => {
                open.retain(|one| *one != id);
                println!("\n{end} {id}");
                if id == asked {
                    open.push(keel.request("list_conversations", "")?);
                    open.push(keel.request("interrupt", "")?);
                    open.push(keel.request("clear_history", "")?);
                }
            }
            _ => {}
        }
    }
    println!("exit {}", keel.finish()?);
    Ok(())
}
