//! PNG, GIF and filmstrips: what is read back is what was written.

use sinew_picture::{Animation, Filmstrip, Image, Palette, PictureError, Renderer, encode_png};

use crate::{camera, still_life};

const SIZE: (usize, usize) = (75, 50);

fn still() -> Image {
    let scene = still_life();
    Renderer::new(SIZE.0, SIZE.1).expect("a size").render(&scene, &camera(&scene, "corner", SIZE)).clone()
}

pub(crate) fn decode_png(bytes: &[u8]) -> Image {
    let mut reader =
        png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a file that was just written");
    let mut buffer = vec![0; reader.output_buffer_size().expect("a file that was just written")];
    let info = reader.next_frame(&mut buffer).expect("a file that was just written");
    assert_eq!(info.color_type, png::ColorType::Rgb);
    let mut image = Image::new(info.width as usize, info.height as usize, [0; 3]).expect("a size");
    image.pixels_mut().copy_from_slice(buffer[..info.buffer_size()].as_chunks().0);
    image
}

/// The pictures of an animation as a viewer shows them, with their delays in hundredths of a second.
fn decode_gif(bytes: &[u8]) -> Vec<(Image, u16)> {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::Indexed);
    let mut decoder = options.read_info(bytes).expect("a file that was just written");
    assert_eq!(decoder.repeat(), gif::Repeat::Infinite);
    let palette: Vec<[u8; 3]> = decoder.global_palette().expect("a palette").as_chunks().0.to_vec();
    let mut shown = Image::new(decoder.width().into(), decoder.height().into(), [0; 3]).expect("a size");
    let mut frames = Vec::new();
    while let Some(frame) = decoder.read_next_frame().expect("a file that was just written") {
        let width = shown.width();
        for (i, &number) in frame.buffer.iter().enumerate() {
            let (x, y) = (i % usize::from(frame.width), i / usize::from(frame.width));
            if Some(number) != frame.transparent {
                let at = (y + usize::from(frame.top)) * width + x + usize::from(frame.left);
                shown.pixels_mut()[at] = palette[usize::from(number)];
            }
        }
        frames.push((shown.clone(), frame.delay));
    }
    frames
}

/// Mean difference of two pictures in steps of a byte.
pub(crate) fn difference(a: &Image, b: &Image) -> f64 {
    assert_eq!((a.width(), a.height()), (b.width(), b.height()));
    let pairs = a.pixels().as_flattened().iter().zip(b.pixels().as_flattened());
    pairs.map(|(a, b)| f64::from(a.abs_diff(*b))).sum::<f64>() / (3 * a.pixels().len()) as f64
}

#[test]
fn png_gives_back_every_pixel() {
    let image = still();
    let mut bytes = Vec::new();
    encode_png(&image, &mut bytes).unwrap();
    assert_eq!(decode_png(&bytes), image);
}

#[test]
fn gif_gives_back_pictures_times_and_what_stays() {
    let mut second = still();
    second.write("0.5 s", (5.0, 5.0), 9.0, [20, 20, 20]);
    let images = [still(), second, still(), still()];
    let mut animation = Animation::new(Vec::new(), Palette::of(&images), SIZE).unwrap();
    for image in &images {
        animation.push(image, 1.0 / 30.0).unwrap();
    }
    let frames = decode_gif(&animation.finish().unwrap());
    assert_eq!(frames.len(), images.len());
    for ((found, _), wanted) in frames.iter().zip(&images) {
        assert!(difference(found, wanted) < 4.0, "{}", difference(found, wanted));
    }
    assert_eq!(frames[0].0, frames[2].0, "what comes back looks the same");
    let delays: Vec<u16> = frames.iter().map(|(_, delay)| *delay).collect();
    assert_eq!(delays, [3, 4, 3, 3], "thirtieths of a second add up");
}

#[test]
fn animations_of_nothing_and_of_uneven_pictures_are_refused() {
    let empty = Animation::new(Vec::new(), Palette::of([]), SIZE).unwrap();
    assert!(matches!(empty.finish(), Err(PictureError::NoFrames)));
    assert!(Animation::new(Vec::new(), Palette::of([]), (0, 5)).is_err());
    let mut animation = Animation::new(Vec::new(), Palette::of([]), SIZE).unwrap();
    let error = animation.push(&Image::new(3, 3, [0; 3]).unwrap(), 1.0).unwrap_err();
    assert!(matches!(error, PictureError::Uneven { frame: 0, found: (3, 3), .. }), "{error}");
}

#[test]
fn a_writer_that_fails_is_reported() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is full"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let error = encode_png(&still(), Full).unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
    let Err(error) = Animation::new(Full, Palette::of([]), SIZE) else { panic!("a failure") };
    assert!(error.to_string().contains("the disk is full"), "{error}");
}

#[test]
fn a_filmstrip_holds_all_pictures() {
    let image = still();
    for n in [1, 5, 8] {
        let frames: Vec<(Image, String)> = (0..n).map(|i| (image.clone(), format!("{i} s"))).collect();
        let strip = Filmstrip { title: "a motion".into(), ..Filmstrip::default() };
        let sheet = strip.compose(&frames).unwrap();
        assert!(sheet.width() * sheet.height() > n * SIZE.0 * SIZE.1);
        let row = Filmstrip { columns: 100, ..Filmstrip::default() }.compose(&frames).unwrap();
        assert!(row.width() >= n * SIZE.0 && row.height() < 2 * SIZE.1, "all in one row");
        // The lower right corner of a picture is nowhere written on.
        let corner = image.pixel(SIZE.0 - 1, SIZE.1 - 1);
        assert!(row.pixels().iter().filter(|pixel| **pixel == corner).count() >= n);
    }
    assert!(matches!(Filmstrip::default().compose(&[]), Err(PictureError::NoFrames)));
}
