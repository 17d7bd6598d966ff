// Vectors, and the camera: it looks from a distance at a target; up is against gravity.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const size = (a) => Math.sqrt(dot(a, a));
const unit = (a, other = [0, 0, 1]) => { const n = size(a); return n > 1e-12 ? times(a, 1 / n) : other; };
/** A vector turned by a quaternion x, y, z, w. */
function turned([x, y, z, w], v) {
  const t = times(cross([x, y, z], v), 2);
  return add(add(v, times(t, w)), cross([x, y, z], t));
}

/** Tangent of half the angle that the shorter side of the picture spans. */
const OPENING = 0.25;
const zenith = header.up;
/** Side of a square of the ground: 1, 2 or 5 times a power of ten. */
const cell = (() => {
  const power = 10 ** Math.floor(Math.log10(0.4 * header.reach));
  return power * [5, 2, 1].find((factor) => factor * power <= 0.4 * header.reach);
})();

/** Towards the viewer (of length 1), target, distance, opening. */
const camera = { toward: header.views.corner.toward, up: zenith, target: [0, 0, 0], distance: 1, opening: OPENING };

function openings(aspect) {
  return [camera.opening * Math.max(1, aspect), camera.opening * Math.max(1, 1 / aspect)];
}

/** Right, up and towards the viewer. */
function axes() {
  const toward = camera.toward;
  let right = cross(camera.up, toward);
  if (size(right) < 1e-6) right = cross(Math.abs(toward[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0], toward);
  right = unit(right);
  return { right, up: cross(toward, right), toward };
}

function eye() {
  return add(camera.target, times(camera.toward, camera.distance));
}

/** Looks at the whole motion from a direction, as near as it stays in the picture. */
function frameAll(view, aspect) {
  Object.assign(camera, { toward: view.toward, up: view.up, opening: OPENING, target: header.focus });
  const { right, up, toward } = axes(), margin = 0.9;
  const inner = openings(aspect).map((half) => half * margin);
  const sides = [[-Infinity, -Infinity], [-Infinity, -Infinity]];
  for (let i = 0; i < header.hull.length; i += 3) {
    const p = sub(header.hull.slice(i, i + 3), header.focus), depth = dot(p, toward);
    [dot(p, right), dot(p, up)].forEach((place, k) => {
      sides[k][0] = Math.max(sides[k][0], inner[k] * depth + place);
      sides[k][1] = Math.max(sides[k][1], inner[k] * depth - place);
    });
  }
  if (!Number.isFinite(sides[0][0])) sides.forEach((side) => side.fill(0.5));
  const far = (k) => (sides[k][0] + sides[k][1]) / (2 * inner[k]);
  const aside = (k) => (sides[k][0] - sides[k][1]) / 2;
  camera.target = add(header.focus, add(times(right, aside(0)), times(up, aside(1))));
  camera.distance = Math.max(far(0), far(1), 2 * header.reach);
}

/** Stands at a point and looks at another. */
function placeCamera(from, at, opening) {
  const offset = sub(from, at);
  Object.assign(camera, { toward: unit(offset), up: zenith, target: at, distance: size(offset) || 1, opening });
}

/** Turns about the target; angles in radians. */
function orbit(across, down) {
  const { right } = axes();
  const about = (axis, angle, v) => turned([...times(axis, Math.sin(angle / 2)), Math.cos(angle / 2)], v);
  camera.up = zenith;
  let toward = about(zenith, -across, camera.toward);
  const lifted = about(right, -down, toward);
  const height = dot(lifted, zenith);
  if (Math.abs(height) < 0.998 || Math.abs(height) < Math.abs(dot(toward, zenith))) toward = lifted;
  camera.toward = unit(toward);
}

/** Moves the target with the picture; shares of the height of the picture. */
function pan(across, down, aspect) {
  const { right, up } = axes(), tall = 2 * camera.distance * openings(aspect)[1];
  camera.target = add(camera.target, add(times(right, -across * tall), times(up, down * tall)));
}

function zoom(factor) {
  camera.distance = Math.min(100 * header.reach, Math.max(0.01 * header.reach, camera.distance * factor));
}

/** World to clip space, by columns. */
function projection(aspect) {
  const { right, up, toward } = axes(), at = eye(), [ox, oy] = openings(aspect);
  const near = Math.max(1e-3 * header.reach, 0.02 * camera.distance), far = camera.distance + 30 * header.reach;
  const row = (axis, s) => [axis[0] * s, axis[1] * s, axis[2] * s, -dot(axis, at) * s];
  const x = row(right, 1 / ox), y = row(up, 1 / oy), w = row(toward, -1);
  const a = (far + near) / (far - near), b = (-2 * far * near) / (far - near);
  const z = [w[0] * a, w[1] * a, w[2] * a, w[3] * a + b];
  return [0, 1, 2, 3].flatMap((k) => [x[k], y[k], z[k], w[k]]);
}
