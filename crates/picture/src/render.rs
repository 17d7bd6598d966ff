//! The renderer: from a scene to pixels.
//!
//! Each of the eight samples of a pixel keeps its nearest triangle (by one over the distance, which is linear in the
//! picture). Then every triangle that a pixel shows is shaded once, at the centroid of its samples, and the samples are
//! averaged in linear light. Bands of rows are independent, so pixels do not depend on the number of threads.
//! Cost: O(vertices + triangles + covered samples + pixels); scratch memory of one band per thread.

use glam::Vec3;

use crate::project::{Lens, ProjectedTriangles};
use crate::raster::{Edges, SAMPLES};
use crate::shade::{Shader, ViewedPlane};
use crate::{
    camera::Camera, color::Encoding, error::PictureError, image::Image, scene::Scene, shadow::ShadowMap,
};

/// Rows of a band.
const ROWS: usize = 16;
/// SampleBuffer of a pixel.
const N: usize = SAMPLES.len();
/// Index of a sample that shows the background; planes have the indices below it.
const NOTHING: u32 = u32::MAX;
/// Opacity of the layers `inside` and `front` of a scene.
const THROUGH: [f32; 2] = [0.3, 1.0];

/// Draws scenes; reuses its memory from one picture to the next.
#[derive(Clone, Debug)]
pub struct Renderer {
    image: Image,
    encoding: Encoding,
    shadows: ShadowMap,
    solid: MeshLayer,
    /// The layers `inside` and `front` of the scene.
    over: [MeshLayer; 2],
}

impl Renderer {
    /// A renderer of pictures of this size. Fails if a side is zero or longer than 16,384 pixels.
    pub fn new(width: usize, height: usize) -> Result<Self, PictureError> {
        Ok(Self {
            image: Image::new(width, height, [0; 3])?,
            encoding: Encoding::new(),
            shadows: ShadowMap::new(width.max(height)),
            solid: MeshLayer::default(),
            over: Default::default(),
        })
    }

    /// Width and height of its pictures in pixels.
    pub fn size(&self) -> (usize, usize) {
        (self.image.width(), self.image.height())
    }

    /// Draws a scene. Parts that are not finite or not in front of the camera are skipped.
    pub fn render(&mut self, scene: &Scene, camera: &Camera) -> &Image {
        let (width, height) = (self.image.width(), self.image.height());
        let lens = Lens { camera, width, height };
        self.shadows.draw(camera, &scene.solid);
        self.solid.shapes.clear();
        self.solid.shapes.push_mesh(&scene.solid, lens);
        scene.lines.iter().for_each(|line| self.solid.shapes.push_line(line, lens));
        let bands = height.div_ceil(ROWS);
        self.solid.sort(bands);
        for (layer, mesh) in self.over.iter_mut().zip([&scene.inside, &scene.front]) {
            layer.shapes.clear();
            layer.shapes.push_mesh(mesh, lens);
            layer.sort(bands);
        }
        let planes: Vec<ViewedPlane> =
            scene.planes.iter().filter_map(|plane| ViewedPlane::new(plane, camera)).collect();
        let canvas = Canvas {
            shader: Shader::new(lens, &self.shadows),
            solid: &self.solid,
            over: &self.over,
            planes: &planes,
            encoding: &self.encoding,
        };
        let pixels = self.image.pixels_mut();
        crate::threads::for_each_chunk(pixels, ROWS * width, BandBuffers::default, |scratch, i, rows| {
            canvas.draw(i, rows, scratch);
        });
        &self.image
    }
}

/// Triangles in the picture, sorted into the bands that they may touch.
#[derive(Clone, Debug, Default)]
struct MeshLayer {
    shapes: ProjectedTriangles,
    /// Triangles of band i are `members[first[i]..first[i + 1]]`, in the order of the scene.
    first: Vec<usize>,
    members: Vec<u32>,
}

impl MeshLayer {
    fn edges(&self, triangle: u32) -> Option<Edges> {
        Edges::new(self.shapes.triangles[triangle as usize].map(|i| self.shapes.corners[i as usize].at))
    }

    fn bands(&self, triangle: u32, n: usize) -> std::ops::Range<usize> {
        let Some(edges) = self.edges(triangle) else { return 0..0 };
        let rows = edges.rows();
        let last = rows.end.clamp(0, (n * ROWS) as i64) as usize;
        (rows.start.clamp(0, (n * ROWS) as i64) as usize / ROWS)..last.div_ceil(ROWS)
    }

    /// Counting sort of the triangles into `n` bands.
    fn sort(&mut self, n: usize) {
        let triangles = 0..self.shapes.triangles.len() as u32;
        let mut count = vec![0; n + 1];
        for triangle in triangles.clone() {
            self.bands(triangle, n).for_each(|band| count[band + 1] += 1);
        }
        for i in 0..n {
            count[i + 1] += count[i];
        }
        let mut members = std::mem::take(&mut self.members);
        members.clear();
        members.resize(count[n], 0);
        let mut next = count.clone();
        for triangle in triangles {
            for band in self.bands(triangle, n) {
                members[next[band]] = triangle;
                next[band] += 1;
            }
        }
        (self.first, self.members) = (count, members);
    }
}

/// Sample buffers of one band.
#[derive(Default)]
struct BandBuffers {
    solid: SampleBuffer,
    over: [SampleBuffer; 2],
}

/// Nearest triangle or plane of each sample.
#[derive(Default)]
struct SampleBuffer {
    /// One over the distance of the nearest surface (1/m); zero if there is none.
    near: Vec<f32>,
    /// Index of that triangle or plane.
    what: Vec<u32>,
}

impl SampleBuffer {
    fn clear(&mut self, n: usize) {
        self.near.clear();
        self.near.resize(n, 0.0);
        self.what.clear();
        self.what.resize(n, NOTHING);
    }

    /// Depth test: writes `what` at the samples of a mask where it is nearer. `at` is the index of the first sample.
    fn put(&mut self, at: usize, mask: u8, near: [f32; N], what: u32) {
        let (nearest, shown) = (&mut self.near[at..at + N], &mut self.what[at..at + N]);
        for k in 0..N {
            if mask >> k & 1 == 1 && near[k] > nearest[k] {
                (nearest[k], shown[k]) = (near[k], what);
            }
        }
    }

    /// Draws the triangles of a band.
    fn draw(&mut self, layer: &MeshLayer, band: usize, width: usize) {
        let top = (band * ROWS) as i64;
        for &triangle in &layer.members[layer.first[band]..layer.first[band + 1]] {
            let Some(edges) = layer.edges(triangle) else { continue };
            let corners = layer.shapes.triangles[triangle as usize];
            let slope = edges.slope(corners.map(|i| layer.shapes.corners[i as usize].near));
            let offsets = slope.offsets(&SAMPLES);
            edges.cover(&SAMPLES, top..top + ROWS as i64, width as i64, |x, y, mask| {
                let middle = slope.at_pixel(x, y);
                let at = ((y - top) as usize * width + x as usize) * N;
                if let Some(end) = self.near.len().checked_sub(N)
                    && at <= end
                {
                    self.put(at, mask, offsets.map(|offset| (middle + offset) as f32), triangle);
                }
            });
        }
    }
}

/// Shared inputs of all bands.
struct Canvas<'a> {
    shader: Shader<'a>,
    solid: &'a MeshLayer,
    over: &'a [MeshLayer; 2],
    planes: &'a [ViewedPlane],
    encoding: &'a Encoding,
}

impl Canvas<'_> {
    fn draw(&self, band: usize, pixels: &mut [[u8; 3]], scratch: &mut BandBuffers) {
        let width = self.shader.lens.width;
        let BandBuffers { solid, over } = scratch;
        solid.clear(pixels.len() * N);
        solid.draw(self.solid, band, width);
        let is_there = |layer: &MeshLayer| layer.first[band] < layer.first[band + 1];
        for (samples, layer) in over.iter_mut().zip(self.over).filter(|(_, layer)| is_there(layer)) {
            samples.clear(pixels.len() * N);
            samples.draw(layer, band, width);
        }
        for (plane, seen) in self.planes.iter().enumerate() {
            let slope = self.shader.slope(seen);
            let offsets = slope.offsets(&SAMPLES);
            for i in 0..pixels.len() {
                let middle = slope.at_pixel((i % width) as i64, (band * ROWS + i / width) as i64);
                let near = offsets.map(|offset| (middle + offset) as f32);
                solid.put(i * N, u8::MAX, near, NOTHING - 1 - plane as u32);
            }
        }
        for (i, pixel) in pixels.iter_mut().enumerate() {
            let at = (i % width, band * ROWS + i / width);
            let front: &[u32] = &solid.what[i * N..][..N];
            let mut sum = Vec3::ZERO;
            self.for_each_shown(self.solid, front, at, |light, mask| sum += light * mask.count_ones() as f32);
            let over = over.iter().zip(self.over).zip(THROUGH).filter(|((_, layer), _)| is_there(layer));
            for ((samples, layer), share) in over {
                let behind: &[u32] = &samples.what[i * N..][..N];
                // Samples of this layer replace their share of the mean light so far.
                let mean = sum / N as f32;
                self.for_each_shown(layer, behind, at, |light, mask| {
                    let shown = (0..N).filter(|k| mask >> k & 1 == 1 && behind[*k] != NOTHING).count();
                    sum += (light - mean) * (share * shown as f32);
                });
            }
            *pixel = self.encoding.bytes(sum / N as f32);
        }
    }

    /// Calls `visit(light, mask)` for each triangle or plane that a pixel shows; the mask holds its samples.
    fn for_each_shown(
        &self,
        layer: &MeshLayer,
        shown: &[u32],
        (x, y): (usize, usize),
        mut visit: impl FnMut(Vec3, u8),
    ) {
        // The centroid of all samples is the centre of the pixel.
        if shown.iter().all(|what| *what == shown[0]) {
            return visit(self.light(layer, shown[0], x as f64 + 0.5, y as f64 + 0.5), u8::MAX);
        }
        let mut left = u8::MAX;
        while left != 0 {
            let what = shown[left.trailing_zeros() as usize];
            let (mut mask, mut middle) = (0u8, [0, 0]);
            for k in 0..N {
                if left >> k & 1 == 1 && shown[k] == what {
                    mask |= 1 << k;
                    middle = [middle[0] + SAMPLES[k][0], middle[1] + SAMPLES[k][1]];
                }
            }
            left &= !mask;
            let n = f64::from(mask.count_ones());
            let [dx, dy] = middle.map(|sum| sum as f64 / (256.0 * n) + 0.5);
            visit(self.light(layer, what, x as f64 + dx, y as f64 + dy), mask);
        }
    }

    /// Light of a triangle, a plane or the background at a pixel position.
    fn light(&self, layer: &MeshLayer, what: u32, x: f64, y: f64) -> Vec3 {
        if what == NOTHING {
            return self.shader.background(y);
        }
        if let Some(plane) = self.planes.get((NOTHING - 1 - what) as usize) {
            return self.shader.plane(plane, x, y);
        }
        let corners = layer.shapes.triangles[what as usize].map(|i| &layer.shapes.corners[i as usize]);
        match Edges::new(corners.map(|corner| corner.at)) {
            Some(edges) => self.shader.surface(corners, edges.weights(256.0 * x, 256.0 * y)),
            None => self.shader.background(y),
        }
    }
}
