//! Pages: what is in them comes back, and a browser shows what the software renderer shows.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use glam::DVec3;
use miniz_oxide::inflate::decompress_to_vec_zlib;
use serde_json::Value;
use sinew_io::{Clip, ClipBody, ClipFrame, PageOptions, page};
use sinew_math::Pose;
use sinew_picture::{Camera, Image};
use sinew_show::{Drawing, DrawingContext, DrawingRenderer, SceneLooks, Scenery, ShowOptions, VisibleState};
use sinew_sim::World;

use crate::clips::moved;

/// What stands between two texts.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let rest = text.split_once(from).expect("a beginning").1;
    rest.split_once(to).expect("an end").0
}

pub(crate) fn bytes_of(letters: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let four = |four: &[u8]| four.iter().fold(0u32, |bits, &c| bits << 6 | u32::from(value(c)));
    letters.as_bytes().chunks_exact(4).flat_map(|it| four(it).to_be_bytes()[1..].to_vec()).collect()
}

#[test]
fn what_the_page_holds_is_what_was_recorded() {
    let (_, clip) = moved(41);
    let text = page(&clip, &PageOptions::default()).expect("a page");
    let header: Value =
        serde_json::from_str(between(&text, "<script type=\"application/json\" id=\"clip\">", "</script>"))
            .expect("JSON");
    assert_eq!(header["name"], "odd </script> & \"name\"");
    assert_eq!(header["times"].as_array().map(Vec::len), Some(41));
    assert_eq!(header["chunks"].as_array().map(Vec::len), Some(2));
    let data = bytes_of(between(&text, "id=\"data\">", "</script>"));
    // The first frame of the poses in the second chunk is as it was made: no frame before it.
    let at = |value: &Value| value.as_u64().expect("a number") as usize;
    let stream = &header["chunks"][1][0];
    let bytes = decompress_to_vec_zlib(&data[at(&stream[0])..][..at(&stream[1])]).expect("a stream");
    let (frames, bodies) = (11, clip.bodies.len());
    assert_eq!(bytes[..4], (bodies as u32).to_le_bytes());
    let (planes, total) = (usize::from(bytes[4 * frames + 1]), 7 * bodies * frames);
    assert_eq!(bytes.len(), 4 * frames + 2 + planes * total);
    let folded =
        |i: usize| (0..planes).map(|k| u32::from(bytes[4 * frames + 2 + k * total + i]) << (8 * k)).sum();
    let number = |value: &Value| value.as_f64().expect("a number");
    let mut sums = [0i32; 7];
    for (body, pose) in clip.frames[30].poses.iter().enumerate() {
        let [x, y, z] = pose.translation.to_array();
        let [i, j, k, w] = pose.rotation.to_array();
        let mut found = [0.0; 7];
        for part in 0..7 {
            let bits: u32 = folded(part * bodies + body);
            sums[part] += (bits >> 1) as i32 ^ -((bits & 1) as i32);
            let lane = &header["lanes"][0];
            found[part] =
                number(&lane["offset"][part]) + number(&lane["scale"][part]) * f64::from(sums[part]);
        }
        let sign = (found[3] * i + found[4] * j + found[5] * k + found[6] * w).signum();
        for (found, wanted) in found.into_iter().zip([x, y, z, sign * i, sign * j, sign * k, sign * w]) {
            assert!((found - wanted).abs() < 3e-5, "{body}: {found} {wanted}");
        }
    }
}

/// Found by fuzzing: they counted for nothing, and were drawn half a metre from the origin at most.
#[test]
fn bodies_without_shapes_are_where_they_are() {
    let mut clip = Clip::default();
    clip.bodies.push(ClipBody::default());
    for x in [-12.5, 30.0] {
        let mut frame = ClipFrame::default();
        frame.poses.push(Pose::from_translation(DVec3::X * x));
        clip.frames.push(frame);
    }
    let text = page(&clip, &PageOptions::default()).expect("a page");
    let header = between(&text, "<script type=\"application/json\" id=\"clip\">", "</script>");
    let header: Value = serde_json::from_str(header).expect("JSON");
    let number = |value: &Value| value.as_f64().expect("a number");
    assert!(
        (number(&header["reach"]) - 21.25).abs() < 1e-3 && (number(&header["focus"][0]) - 8.75).abs() < 1e-3
    );
}

#[test]
fn a_page_needs_nothing_else() {
    let (_, mut clip) = moved(1);
    let text = page(&clip, &PageOptions::default()).expect("a page");
    let program = text.rsplit_once("<script>").expect("a program").1;
    for word in ["http:", "https:", "import ", "fetch(", "XMLHttpRequest", "src=", "@import", "url("] {
        let styles = between(&text, "<style>", "</style>");
        assert!(!program.contains(word) && !styles.contains(word), "{word}");
    }
    let size = program.len() + between(&text, "<style>", "</style>").len();
    assert!(size < 300_000, "{size}");
    assert_eq!(text.matches("</script>").count(), 3);
    assert!(!text.contains("{{"), "a place was left open");
    clip.frames.clear();
    assert_eq!(page(&clip, &PageOptions::default()).unwrap_err().to_string(), "the motion has no frame");
}

/// A browser, if there is one.
fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    folders.iter().flat_map(|folder| names.map(|name| folder.join(name))).find(|path| path.is_file())
}

/// Tells the picture on the console once it is drawn.
const TELL: &str = "<script>(function wait() {
  if (document.documentElement.dataset.shown === undefined) return setTimeout(wait, 50);
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const text = document.getElementById('picture').toDataURL('image/png').split(',')[1];
    for (let i = 0; i < text.length; i += 4000) console.log(`SHOT ${text.slice(i, i + 4000)} `);
    console.log('SHOT END ');
  }));
})();</script></body>";

/// What the browser draws of a page: width, pixels.
fn shot(browser: &Path, folder: &Path, hash: &str) -> (usize, Vec<[u8; 3]>) {
    let profile = folder.join("profile");
    let _ = std::fs::remove_dir_all(&profile);
    let flags = "--headless --no-sandbox --disable-gpu --use-angle=swiftshader --enable-unsafe-swiftshader \
                 --disable-quic --no-first-run --disable-background-networking --disable-component-update \
                 --disable-sync --force-device-scale-factor=1 --window-size=480,360 --enable-logging=stderr \
                 --remote-debugging-port=0";
    let mut command = Command::new(browser);
    command.args(flags.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.arg(format!("--user-data-dir={}", profile.display()));
    command.arg(format!("file://{}#{hash}", folder.join("page.html").display()));
    let mut child = command.spawn().expect("a browser that starts");
    let (lines, said) = std::sync::mpsc::channel();
    let stderr = BufReader::new(child.stderr.take().expect("what it says"));
    let reader = std::thread::spawn(move || {
        stderr.lines().map_while(Result::ok).take_while(|line| lines.send(line.clone()).is_ok()).count()
    });
    let (mut letters, end) = (String::new(), Instant::now() + Duration::from_secs(120));
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let line = said.recv_timeout(left).unwrap_or_else(|error| panic!("no picture of #{hash}: {error}"));
        match line.split_once("SHOT ").and_then(|(_, rest)| rest.split_once(' ')) {
            Some(("END", _)) => break,
            Some((part, _)) => letters.push_str(part),
            None => {}
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    drop(said);
    let _ = reader.join();
    let n = letters.trim_end_matches('=').len() * 3 / 4;
    decode_png(&bytes_of(&letters)[..n])
}

/// Width and pixels of a PNG file with eight bits a channel.
fn decode_png(bytes: &[u8]) -> (usize, Vec<[u8; 3]>) {
    let (mut rest, mut data, mut width, mut channels) = (&bytes[8..], Vec::new(), 0, 0);
    while rest.len() > 8 {
        let length = u32::from_be_bytes(rest[..4].try_into().expect("four bytes")) as usize;
        let body = &rest[8..8 + length];
        match &rest[4..8] {
            b"IHDR" => {
                width = u32::from_be_bytes(body[..4].try_into().expect("four bytes")) as usize;
                channels = if body[9] == 6 { 4 } else { 3 };
            }
            b"IDAT" => data.extend_from_slice(body),
            _ => {}
        }
        rest = &rest[12 + length..];
    }
    let lines = decompress_to_vec_zlib(&data).expect("pixels");
    let row = channels * width;
    let (mut before, mut pixels) = (vec![0u8; row], Vec::new());
    for line in lines.chunks_exact(row + 1) {
        let mut now = line[1..].to_vec();
        for i in 0..row {
            let left = if i < channels { 0 } else { now[i - channels] };
            let corner = if i < channels { 0 } else { before[i - channels] };
            let (a, b, c) = (i16::from(left), i16::from(before[i]), i16::from(corner));
            let guess = match line[0] {
                0 => 0,
                1 => a,
                2 => b,
                3 => (a + b) / 2,
                _ => [a, b, c].into_iter().min_by_key(|it| (a + b - c - it).abs()).unwrap_or(a),
            };
            now[i] = now[i].wrapping_add(guess as u8);
        }
        pixels.extend(now.chunks_exact(channels).map(|it| [it[0], it[1], it[2]]));
        before = now;
    }
    (width, pixels)
}

/// Where something is: pixels that differ from the leftmost one of their row.
fn silhouette(pixels: &[[u8; 3]], width: usize) -> Vec<bool> {
    let differs = |a: [u8; 3], b: [u8; 3]| (0..3).any(|k| a[k].abs_diff(b[k]) > 14);
    pixels.chunks_exact(width).flat_map(|row| row.iter().map(move |pixel| differs(*pixel, row[0]))).collect()
}

/// The software renderer's picture of a world, without its ground.
fn rendered(world: &World, camera: &Camera, size: (usize, usize)) -> Image {
    let looks = SceneLooks::of(world);
    let (mut visible, mut drawing) = (VisibleState::default(), Drawing::default());
    let show = ShowOptions::default();
    visible.fill(world, &looks, &show);
    let scenery = Scenery::default();
    let context = DrawingContext { looks: &looks, scenery: &scenery, floor: None, reach: camera.reach, show };
    drawing.fill(&visible, &context, None);
    DrawingRenderer::new(size.0, size.1).expect("a renderer").render(&drawing, camera).clone()
}

#[test]
fn a_browser_shows_what_the_software_renderer_shows() {
    let Some(browser) = browser() else {
        println!("no Chromium here: pages are not looked at");
        return;
    };
    let folder = std::env::temp_dir().join(format!("sinew-page-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (world, clip) = moved(61);
    let text = page(&clip, &PageOptions::default()).expect("a page");
    std::fs::write(folder.join("page.html"), text.replace("</body>", TELL)).expect("a file");
    let from = "ui=0&camera=4,-7.5,1.5,1.2,0.3,-0.9,0.25";
    let look = |more: &str| shot(&browser, &folder, &format!("{from}&{more}"));
    let ((width, last), (_, first)) =
        (look("theme=light&show=-ground&t=0.6"), look("theme=light&show=-ground&t=0"));
    let changed = last.iter().zip(&first).filter(|(a, b)| a != b).count();
    assert!(changed > 500, "{changed} pixels changed from the first frame to the last");
    assert!(look("theme=dark&show=stretch,joints,forces,contacts&t=0.6").1 != last);
    let size = (width, last.len() / width);
    let (eye, at) = (DVec3::new(4.0, -7.5, 1.5), DVec3::new(1.2, 0.3, -0.9));
    let points = clip.frames[60].poses.iter().map(|pose| pose.translation);
    let camera = Camera::placed((eye, at), DVec3::Z, 0.25, points, size.0 as f64 / size.1 as f64);
    let picture = rendered(&world, &camera, size);
    let (ours, theirs) = (silhouette(picture.pixels(), width), silhouette(&last, width));
    let count =
        |test: fn(bool, bool) -> bool| ours.iter().zip(&theirs).filter(|(a, b)| test(**a, **b)).count();
    let (both, either) = (count(|a, b| a && b), count(|a, b| a || b));
    assert!(either > 1000 && both * 100 >= 93 * either, "{both} of {either} pixels");
    let _ = std::fs::remove_dir_all(&folder);
}
