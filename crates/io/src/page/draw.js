// The picture: WebGL 2. Light is linear; solids, sheets and flesh are lit by the sky and by a sun with soft shadows.

const canvas = document.getElementById("picture");
// The picture stays for programs that take screenshots long after it was drawn.
const gl = canvas.getContext("webgl2", { antialias: true, alpha: false, preserveDrawingBuffer: true });
const SHADOW = 2048;

const FROM_SRGB = `vec3 linear(vec3 c) { return mix(pow((c + 0.055) / 1.055, vec3(2.4)), c / 12.92, lessThanEqual(c, vec3(0.04045))); }`;
const TO_SRGB = `vec3 encode(vec3 c) { c = clamp(c, 0.0, 1.0); return mix(1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, c * 12.92, lessThanEqual(c, vec3(0.0031308))); }`;

const SOLID = `#version 300 es
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 at;
layout(location = 3) in vec4 turn;
layout(location = 4) in vec3 scale;
layout(location = 5) in vec3 color;
uniform mat4 clip;
uniform vec3 eye, toward;
uniform float pixel, thin;
out vec3 place, upright, paint;
vec3 turned(vec4 q, vec3 v) { vec3 t = 2.0 * cross(q.xyz, v); return v + q.w * t + cross(q.xyz, t); }
${FROM_SRGB}
void main() {
  vec4 q = normalize(turn);
  place = at + turned(q, scale * position);
  upright = turned(q, normal / scale);
  // Thin things keep a least width.
  float far = dot(eye - place, toward);
  place += normalize(upright) * max(0.0, 0.75 * pixel * far - thin);
  paint = linear(color);
  gl_Position = clip * vec4(place, 1.0);
}`;

const SHADOWED = `
uniform highp sampler2DShadow shadows;
uniform mat4 sunlight;
uniform float blur, texel;
const float TAU = 6.2831853;
float lit(vec3 place, vec3 normal, float spread) {
  vec4 from = sunlight * vec4(place + normal * (2.6 * texel), 1.0);
  vec3 at = 0.5 + 0.5 * from.xyz;
  if (any(lessThan(at, vec3(0.002))) || any(greaterThan(at, vec3(0.998)))) return 1.0;
  float turn = TAU * fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
  float sum = 0.0;
  for (int k = 0; k < 20; k++) {
    float r = sqrt((float(k) + 0.5) / 20.0), angle = turn + 2.3999632 * float(k);
    sum += texture(shadows, vec3(at.xy + spread * r * vec2(cos(angle), sin(angle)), at.z - 0.0008));
  }
  vec2 edge = smoothstep(0.5, 0.4, abs(at.xy - 0.5));
  return mix(1.0, sum / 20.0, edge.x * edge.y);
}`;

const SURFACE = `#version 300 es
precision highp float;
in vec3 place, upright, paint;
uniform vec3 eye, light, zenith, sky, bounce, sun;
uniform float opacity, flat_light;
out vec4 shown;
${SHADOWED}
${TO_SRGB}
void main() {
  vec3 view = normalize(eye - place), normal = normalize(upright);
  if (!gl_FrontFacing) normal = -normal;
  float slant = max(dot(normal, light), 0.0);
  float open = slant > 0.0 && flat_light < 0.5 ? lit(place, normal, blur) : 1.0;
  vec3 half_way = normalize(light + view);
  float sharp = pow(max(dot(normal, half_way), 0.0), 32.0);
  float rim = pow(1.0 - clamp(dot(normal, view), 0.0, 1.0), 4.0);
  vec3 above = mix(bounce, sky, 0.5 + 0.5 * dot(normal, zenith));
  vec3 c = paint * (above + sun * (slant * open)) + sun * (0.10 * sharp * open) + sky * (0.12 * rim);
  shown = vec4(encode(c), opacity);
}`;

const DEPTH = `#version 300 es
precision mediump float;
void main() {}`;

const GROUND = `#version 300 es
layout(location = 0) in vec2 corner;
uniform mat4 clip;
uniform vec3 middle, along, across;
uniform vec2 origin;
uniform float wide;
out vec3 place;
out vec2 where;
void main() {
  place = middle + wide * (corner.x * along + corner.y * across);
  where = origin + wide * corner;
  gl_Position = clip * vec4(place, 1.0);
}`;

const GROUND_PIXELS = `#version 300 es
precision highp float;
in vec3 place;
in vec2 where;
uniform vec3 light, zenith, sky, bounce, sun, focus, normal, bright, dark;
uniform float cell, reach;
out vec4 shown;
${SHADOWED}
${FROM_SRGB}
${TO_SRGB}
vec2 wave(vec2 p, vec2 w) {
  vec2 a = 2.0 * abs(fract(0.5 * (p - 0.5 * w)) - 0.5), b = 2.0 * abs(fract(0.5 * (p + 0.5 * w)) - 0.5);
  return (a - b) / w * clamp(2.0 - w, 0.0, 1.0);
}
void main() {
  vec3 level = place - focus;
  level -= normal * dot(level, normal);
  float fade = smoothstep(6.0, 1.6, length(level) / reach);
  vec2 w = max(fwidth(where) / cell, vec2(1e-6)), v = wave(where / cell, w);
  vec3 paint = mix(linear(dark), linear(bright), 0.5 + 0.5 * v.x * v.y);
  float open = lit(place, normal, 3.2 * blur), slant = max(dot(normal, light), 0.0);
  vec3 above = mix(bounce, sky, 0.5 + 0.5 * dot(normal, zenith)) * (0.72 + 0.28 * open);
  shown = vec4(encode(paint * (above + sun * (slant * open))), fade);
}`;

const SKY = `#version 300 es
layout(location = 0) in vec2 corner;
out float height;
void main() { height = 0.5 - 0.5 * corner.y; gl_Position = vec4(corner, 1.0, 1.0); }`;
const SKY_PIXELS = `#version 300 es
precision highp float;
in float height;
uniform vec3 bright, dark;
out vec4 shown;
${FROM_SRGB}
${TO_SRGB}
void main() {
  float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5;
  shown = vec4(encode(mix(linear(dark), linear(bright), min(1.0, 1.25 * height))) + noise / 255.0, 1.0);
}`;

const LINE = `#version 300 es
layout(location = 0) in vec2 corner;
layout(location = 1) in vec3 from;
layout(location = 2) in vec3 to;
layout(location = 3) in vec3 color;
uniform mat4 clip;
uniform vec2 screen;
uniform float width;
out vec3 paint;
void main() {
  vec4 a = clip * vec4(from, 1.0), b = clip * vec4(to, 1.0);
  vec2 along = (b.xy / max(b.w, 1e-6) - a.xy / max(a.w, 1e-6)) * screen;
  along = length(along) > 1e-6 ? normalize(along) : vec2(1.0, 0.0);
  vec4 here = corner.x < 0.0 ? a : b;
  here.xy += (corner.y * vec2(-along.y, along.x) + corner.x * along) * width / screen * here.w;
  paint = color;
  gl_Position = here;
}`;
const LINE_PIXELS = `#version 300 es
precision mediump float;
in vec3 paint;
out vec4 shown;
void main() { shown = vec4(paint, 1.0); }`;

function program(vertex, fragment) {
  const it = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(it, shader);
  }
  gl.linkProgram(it);
  if (!gl.getProgramParameter(it, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(it));
  const places = {};
  const set = (name, value) => {
    const at = places[name] ??= gl.getUniformLocation(it, name);
    if (!at) return;
    if (typeof value === "number") gl.uniform1f(at, value);
    else if (value.length === 2) gl.uniform2fv(at, value);
    else if (value.length === 3) gl.uniform3fv(at, value);
    else gl.uniformMatrix4fv(at, false, value);
  };
  return { it, set, use(values) { gl.useProgram(it); for (const name in values) set(name, values[name]); } };
}

function buffer(data, target = gl.ARRAY_BUFFER) {
  const it = gl.createBuffer();
  gl.bindBuffer(target, it);
  gl.bufferData(target, data, gl.STATIC_DRAW);
  return it;
}

function attribute(at, n, kind, normalized, stride, offset, divisor = 0) {
  gl.enableVertexAttribArray(at);
  gl.vertexAttribPointer(at, n, kind, normalized, stride, offset);
  gl.vertexAttribDivisor(at, divisor);
}

/** A mesh of which many instances are drawn: position, rotation, scale and colour of each. */
class Group {
  constructor(positions, normals, indices, isBone = false) {
    this.n = indices.length;
    this.isBone = isBone;
    this.members = [];
    this.data = new Float32Array(0);
    this.count = 0;
    let low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (let i = 0; i < positions.length; i++) {
      low[i % 3] = Math.min(low[i % 3], positions[i]);
      high[i % 3] = Math.max(high[i % 3], positions[i]);
    }
    const extents = [0, 1, 2].map((k) => high[k] - low[k]).sort((a, b) => a - b);
    this.thin = 0.5 * (extents[0] > 0 ? extents[0] : 0);
    this.vao = gl.createVertexArray();
    gl.bindVertexArray(this.vao);
    buffer(positions);
    attribute(0, 3, gl.FLOAT, false, 0, 0);
    buffer(normals);
    attribute(1, 3, gl.SHORT, true, 0, 0);
    this.instances = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
    attribute(2, 3, gl.FLOAT, false, 52, 0, 1);
    attribute(3, 4, gl.FLOAT, false, 52, 12, 1);
    attribute(4, 3, gl.FLOAT, false, 52, 28, 1);
    attribute(5, 3, gl.FLOAT, false, 52, 40, 1);
    buffer(indices, gl.ELEMENT_ARRAY_BUFFER);
    gl.bindVertexArray(null);
  }
  begin(n) {
    if (this.data.length < 13 * n) this.data = new Float32Array(13 * n);
    this.count = 0;
  }
  push(at, turn, scale, color) {
    const d = this.data, i = 13 * this.count++;
    d[i] = at[0]; d[i + 1] = at[1]; d[i + 2] = at[2];
    d[i + 3] = turn[0]; d[i + 4] = turn[1]; d[i + 5] = turn[2]; d[i + 6] = turn[3];
    d[i + 7] = scale[0]; d[i + 8] = scale[1]; d[i + 9] = scale[2];
    d[i + 10] = color[0]; d[i + 11] = color[1]; d[i + 12] = color[2];
  }
  end() {
    gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
    gl.bufferData(gl.ARRAY_BUFFER, this.data.subarray(0, 13 * this.count), gl.DYNAMIC_DRAW);
  }
  draw(shader) {
    if (!this.count) return;
    shader.set("thin", this.thin);
    gl.bindVertexArray(this.vao);
    gl.drawElementsInstanced(gl.TRIANGLES, this.n, gl.UNSIGNED_INT, 0, this.count);
  }
}

/** A surface whose points move. */
class Skin {
  constructor(look, triangles, rest) {
    Object.assign(this, { look, triangles, rest, stretched: false });
    const n = rest.length;
    this.normals = new Float32Array(n);
    this.colors = new Float32Array(n);
    this.rests = null;
    this.vao = gl.createVertexArray();
    gl.bindVertexArray(this.vao);
    this.buffers = [0, 1, 5].map((at) => {
      const it = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, it);
      gl.bufferData(gl.ARRAY_BUFFER, 4 * n, gl.DYNAMIC_DRAW);
      attribute(at, 3, gl.FLOAT, false, 0, 0);
      return it;
    });
    buffer(triangles, gl.ELEMENT_ARRAY_BUFFER);
    gl.bindVertexArray(null);
  }
  fill(points, showStretch) {
    const { triangles, normals } = this;
    normals.fill(0);
    for (let t = 0; t < triangles.length; t += 3) {
      const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
      const ux = points[b] - points[a], uy = points[b + 1] - points[a + 1], uz = points[b + 2] - points[a + 2];
      const vx = points[c] - points[a], vy = points[c + 1] - points[a + 1], vz = points[c + 2] - points[a + 2];
      const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
      normals[a] += x; normals[a + 1] += y; normals[a + 2] += z;
      normals[b] += x; normals[b + 1] += y; normals[b + 2] += z;
      normals[c] += x; normals[c + 1] += y; normals[c + 2] += z;
    }
    // Lengths near 1, for the sums of the shader.
    for (let i = 0; i < normals.length; i += 3) {
      const s = 1 / Math.max(1e-30, Math.hypot(normals[i], normals[i + 1], normals[i + 2]));
      normals[i] *= s; normals[i + 1] *= s; normals[i + 2] *= s;
    }
    this.stretched = showStretch && this.look.flesh;
    if (this.stretched) this.tint(points);
    const lists = [points.subarray(0, normals.length), normals, this.colors];
    this.buffers.forEach((it, k) => {
      if (k === 2 && !this.stretched) return;
      gl.bindBuffer(gl.ARRAY_BUFFER, it);
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, lists[k]);
    });
  }
  /** Mean change of length of the edges at each point, from blue (0.4 shorter) over white to red (0.4 longer). */
  tint(points) {
    const { triangles, rest, colors } = this, n = rest.length / 3;
    const sums = (list) => {
      const out = new Float32Array(n);
      for (let t = 0; t < triangles.length; t += 3) {
        for (let k = 0; k < 3; k++) {
          const i = triangles[t + k], j = triangles[t + (k + 1) % 3];
          const x = list[3 * i] - list[3 * j], y = list[3 * i + 1] - list[3 * j + 1], z = list[3 * i + 2] - list[3 * j + 2];
          const far = Math.sqrt(x * x + y * y + z * z);
          out[i] += far;
          out[j] += far;
        }
      }
      return out;
    };
    this.rests ??= sums(rest);
    const now = sums(points);
    const ends = [[0.17, 0.36, 0.72], [0.96, 0.95, 0.93], [0.78, 0.16, 0.18]];
    for (let i = 0; i < n; i++) {
      const along = Math.min(2, Math.max(0, 1 + (now[i] / Math.max(1e-30, this.rests[i]) - 1) / 0.4));
      const low = along < 1 ? 0 : 1, part = along - low;
      for (let k = 0; k < 3; k++) colors[3 * i + k] = ends[low][k] + part * (ends[low + 1][k] - ends[low][k]);
    }
  }
  draw(shader) {
    shader.set("thin", 1e9);
    gl.bindVertexArray(this.vao);
    gl.vertexAttrib3f(2, 0, 0, 0);
    gl.vertexAttrib4f(3, 0, 0, 0, 1);
    gl.vertexAttrib3f(4, 1, 1, 1);
    if (this.stretched) gl.enableVertexAttribArray(5);
    else {
      gl.disableVertexAttribArray(5);
      gl.vertexAttrib3fv(5, this.look.color);
    }
    gl.drawElements(gl.TRIANGLES, this.triangles.length, gl.UNSIGNED_INT, 0);
  }
}

/** A mesh about the x axis from 0 to 1: radius at the ends, and steps. */
function turnedMesh(profile, sides) {
  const positions = [], normals = [], indices = [];
  for (let j = 0; j < profile.length; j++) {
    const [x, r, nx, nr] = profile[j];
    for (let i = 0; i <= sides; i++) {
      const a = (2 * Math.PI * i) / sides, c = Math.cos(a), s = Math.sin(a);
      positions.push(x, r * c, r * s);
      normals.push(32767 * nx, 32767 * nr * c, 32767 * nr * s);
      if (j > 0 && i > 0) {
        const b = j * (sides + 1) + i, d = b - sides - 1;
        indices.push(d - 1, d, b, d - 1, b, b - 1);
      }
    }
  }
  return [new Float32Array(positions), new Int16Array(normals), new Uint32Array(indices)];
}

const ball = () => turnedMesh(Array.from({ length: 13 }, (_, j) => {
  const a = Math.PI * (1 - j / 12);
  return [Math.cos(a), Math.sin(a), Math.cos(a), Math.sin(a)];
}), 20);
const rod = () => turnedMesh([[0, 0, -1, 0], [0, 1, -1, 0], [0, 1, 0, 1], [1, 1, 0, 1]], 14);
const cone = () => turnedMesh([[0, 0, -1, 0], [0, 1, -1, 0], [0, 1, 0.37, 0.93], [1, 0, 0.37, 0.93]], 14);

/** The rotation that takes x to a direction. */
function fromX(d) {
  if (d[0] < -0.9999) return [0, 0, 1, 0];
  const q = [0, -d[2], d[1], 1 + d[0]], n = Math.hypot(...q);
  return q.map((x) => x / n);
}

const LOOKS = {
  light: { top: [0.74, 0.80, 0.87], bottom: [0.95, 0.955, 0.96], bright: [0.93, 0.925, 0.915], dark: [0.865, 0.87, 0.875],
    sky: [0.43, 0.46, 0.51], bounce: [0.25, 0.235, 0.22], sun: [0.78, 0.75, 0.70], spring: [0.20, 0.23, 0.28], joint: [0.16, 0.18, 0.22] },
  dark: { top: [0.055, 0.07, 0.095], bottom: [0.125, 0.145, 0.17], bright: [0.255, 0.275, 0.30], dark: [0.205, 0.225, 0.25],
    sky: [0.34, 0.38, 0.46], bounce: [0.15, 0.15, 0.16], sun: [0.80, 0.76, 0.70], spring: [0.62, 0.67, 0.74], joint: [0.88, 0.91, 0.95] },
};
const GRAB = [0.85, 0.2, 0.2], CONTACT = [0.05, 0.60, 0.25], FORCE = [0.95, 0.55, 0.15];

class Painter {
  async load() {
    this.solid = program(SOLID, SURFACE);
    this.depth = program(SOLID, DEPTH);
    this.ground = program(GROUND, GROUND_PIXELS);
    this.backdrop = program(SKY, SKY_PIXELS);
    this.line = program(LINE, LINE_PIXELS);
    this.groups = [];
    const bytes = await unpack(header.meshes.stream), meshes = [];
    let at = 0;
    const take = (kind, n) => {
      const out = new kind(bytes.buffer.slice(at, at + n * kind.BYTES_PER_ELEMENT));
      at += 4 * Math.ceil((n * kind.BYTES_PER_ELEMENT) / 4);
      return out;
    };
    for (const [points, triangles] of header.meshes.sizes) {
      meshes.push([take(Float32Array, 3 * points), take(Int16Array, 3 * points), take(Uint32Array, 3 * triangles)]);
    }
    const known = new Map();
    header.solids.forEach(([mesh, body, isBone, ...color]) => {
      const key = `${mesh} ${isBone}`;
      if (!known.has(key)) known.set(key, new Group(...meshes[mesh], isBone === 1));
      known.get(key).members.push({ body, color });
    });
    this.groups = [...known.values()];
    this.skins = header.skins.map((look) =>
      new Skin(look, take(Uint32Array, 3 * look.triangles), take(Float32Array, 3 * look.points)));
    [this.balls, this.rods, this.cones] = [ball(), rod(), cone()].map((mesh) => new Group(...mesh));
    this.square = gl.createVertexArray();
    gl.bindVertexArray(this.square);
    const corners = buffer(new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]));
    attribute(0, 2, gl.FLOAT, false, 0, 0);
    this.strokes = gl.createVertexArray();
    gl.bindVertexArray(this.strokes);
    gl.bindBuffer(gl.ARRAY_BUFFER, corners);
    attribute(0, 2, gl.FLOAT, false, 0, 0);
    this.ends = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.ends);
    [0, 12, 24].forEach((offset, k) => attribute(1 + k, 3, gl.FLOAT, false, 36, offset, 1));
    gl.bindVertexArray(null);
    this.map = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.map);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, SHADOW, SHADOW);
    for (const [name, value] of [[gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE], [gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL],
      [gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
      [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]]) gl.texParameteri(gl.TEXTURE_2D, name, value);
    this.target = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.map, 0);
    gl.drawBuffers([gl.NONE]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    this.lists = header.lanes.map(() => new Float32Array(0));
    this.strokeData = new Float32Array(0);
    this.strokeCount = 0;
  }

  /** Takes the numbers of a moment. */
  take(moment, show, look) {
    const read = (lane) => { const [list, n] = laneAt(moment, lane, this.lists[lane]); this.lists[lane] = list; return [list, n]; };
    const [poses] = read(POSES);
    this.poses = poses;
    const one = [1, 1, 1], still = [0, 0, 0], upright = [0, 0, 0, 1];
    for (const group of this.groups) {
      group.begin(group.members.length);
      for (const { body, color } of group.members) {
        if (body < 0) group.push(still, upright, one, color);
        else group.push(poses.subarray(7 * body, 7 * body + 3), poses.subarray(7 * body + 3, 7 * body + 7), one, color);
      }
      group.end();
    }
    this.skins.forEach((skin, k) => skin.fill(read(SKINS + k)[0], show.stretch));
    this.takeLines(read(LINES), look);
    this.takeMarks(read(CONTACTS), read(FORCES), show, look);
  }

  takeLines([lines, n], look) {
    this.targets = [];
    if (this.strokeData.length < 9 * n) this.strokeData = new Float32Array(9 * n);
    for (let i = 0; i < n; i++) {
      for (let k = 0; k < 6; k++) this.strokeData[9 * i + k] = lines[7 * i + k];
      const isGrab = lines[7 * i + 6] > 0.5, color = isGrab ? GRAB : look.spring;
      if (isGrab) this.targets.push([...lines.subarray(7 * i + 3, 7 * i + 6)]);
      for (let k = 0; k < 3; k++) this.strokeData[9 * i + 6 + k] = color[k];
    }
    this.strokeCount = n;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.ends);
    gl.bufferData(gl.ARRAY_BUFFER, this.strokeData.subarray(0, 9 * n), gl.DYNAMIC_DRAW);
  }

  /** Joints, and arrows of forces: a contact that carries the weight of everything is half as long as the scene. */
  takeMarks([contacts, nContacts], [forces, nForces], show, look) {
    const { reach, weight } = header, joints = show.joints ? header.joints : [];
    this.balls.begin(joints.length + this.targets.length);
    const mark = (at, part, color) => this.balls.push(at, [0, 0, 0, 1], [part * reach, part * reach, part * reach], color);
    for (const joint of joints) mark(this.placeOf(joint), 0.012, look.joint);
    for (const target of this.targets) mark(target, 0.014, GRAB);
    this.balls.end();
    const arrows = [];
    const arrow = (from, force, length, color) => {
      length = Math.min(length, reach);
      if (length > 0.01 * reach) arrows.push([from, unit(force), length, color]);
    };
    if (show.contacts) for (let i = 0; i < nContacts; i++) {
      const from = [...contacts.subarray(6 * i, 6 * i + 3)], force = [...contacts.subarray(6 * i + 3, 6 * i + 6)];
      arrow(from, force, 0.5 * reach * Math.sqrt(size(force)), CONTACT);
    }
    if (show.forces && weight > 0) for (let i = 0; i < Math.min(nForces, header.joints.length); i++) {
      const force = [...forces.subarray(3 * i, 3 * i + 3)];
      arrow(this.placeOf(header.joints[i]), force, 0.5 * reach * size(force), FORCE);
    }
    this.rods.begin(arrows.length);
    this.cones.begin(arrows.length);
    for (const [from, direction, length, color] of arrows) {
      const turn = fromX(direction), head = Math.min(0.05 * reach, 0.35 * length), neck = length - head;
      this.rods.push(from, turn, [neck, 0.12 * head, 0.12 * head], color);
      this.cones.push(add(from, times(direction, neck)), turn, [head, 0.4 * head, 0.4 * head], color);
    }
    this.rods.end();
    this.cones.end();
  }

  placeOf({ body, at }) {
    if (body < 0) return at;
    const p = this.poses, i = 7 * body, q = [p[i + 3], p[i + 4], p[i + 5], p[i + 6]], n = Math.hypot(...q) || 1;
    return add([p[i], p[i + 1], p[i + 2]], turned(q.map((x) => x / n), at));
  }

  /** World to the map of shadows, by columns; and the direction to the sun. */
  sunlight() {
    const { right, toward } = axes(), light = unit(add(zenith, add(times(toward, 0.42), times(right, -0.42))));
    const across = unit(cross(zenith, light), axes().right), high = cross(light, across);
    const wide = 1.05 * Math.min(header.reach, Math.max(0.9 * camera.distance * 2 * camera.opening, 0.1 * header.reach));
    const texel = (2 * wide) / SHADOW, about = wide < header.reach ? camera.target : header.focus;
    const snap = (axis) => Math.round(dot(about, axis) / texel) * texel;
    const deep = 2.2 * header.reach, row = (axis, s, middle) => [...times(axis, s), -middle * s];
    const x = row(across, 1 / wide, snap(across)), y = row(high, 1 / wide, snap(high));
    const z = row(light, -1 / deep, dot(header.focus, light));
    return { light, texel, matrix: [0, 1, 2, 3].flatMap((k) => [x[k], y[k], z[k], k === 3 ? 1 : 0]), blur: 2.6 / SHADOW };
  }

  drawShadows(sun, cast) {
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.viewport(0, 0, SHADOW, SHADOW);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1.5, 3);
    this.depth.use({ clip: sun.matrix, eye: [0, 0, 0], toward: [0, 0, 1], pixel: 0 });
    cast(this.depth);
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  drawGround(clip, common, look) {
    this.ground.use({ ...common, clip, focus: header.focus, reach: header.reach, bright: look.bright, dark: look.dark, cell });
    gl.bindVertexArray(this.square);
    gl.enable(gl.BLEND);
    for (const [px, py, pz, ...normal] of header.planes) {
      const point = [px, py, pz], from = dot(sub(eye(), point), normal);
      if (!(from > 0)) continue;
      const first = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].find((axis) => Math.abs(dot(axis, normal)) < 0.6);
      const along = unit(sub(first, times(normal, dot(first, normal)))), across = cross(normal, along);
      const middle = sub(header.focus, times(normal, dot(sub(header.focus, point), normal)));
      this.ground.use({ middle, along, across, origin: [dot(middle, along), dot(middle, across)], normal, wide: 6 * header.reach });
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }
    gl.disable(gl.BLEND);
  }

  draw(show, look) {
    const [w, h] = [canvas.width, canvas.height], aspect = w / h, clip = projection(aspect), sun = this.sunlight();
    const flesh = show.flesh ? this.skins : this.skins.filter((skin) => !skin.look.flesh);
    const covered = flesh.some((skin) => skin.look.flesh);
    const inside = this.groups.filter((group) => group.isBone && covered);
    const outside = this.groups.filter((group) => !group.isBone || !covered);
    const all = (parts) => (shader) => parts.forEach((part) => part.draw(shader));
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE);
    this.drawShadows(sun, all([...outside, ...flesh]));
    gl.viewport(0, 0, w, h);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.map);
    gl.disable(gl.DEPTH_TEST);
    gl.bindVertexArray(this.square);
    this.backdrop.use({ bright: look.bottom, dark: look.top });
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.enable(gl.DEPTH_TEST);
    const common = { light: sun.light, zenith, sky: look.sky, bounce: look.bounce, sun: look.sun, sunlight: sun.matrix,
      texel: sun.texel, blur: sun.blur };
    if (show.ground) this.drawGround(clip, common, look);
    const pixel = (2 * openings(aspect)[1]) / h;
    this.solid.use({ ...common, clip, eye: eye(), toward: axes().toward, pixel, opacity: 1, flat_light: 0 });
    all([...outside, ...flesh])(this.solid);
    this.drawLines(clip, w, h);
    if (inside.length && show.bones) this.drawInside(all(inside));
    this.solid.use({ flat_light: 1, opacity: 1 });
    gl.clear(gl.DEPTH_BUFFER_BIT);
    all([this.balls, this.rods, this.cones])(this.solid);
    gl.bindVertexArray(null);
  }

  /** Bones show faintly through flesh. */
  drawInside(bones) {
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.colorMask(false, false, false, false);
    this.solid.use({ flat_light: 1, opacity: 0.3 });
    bones(this.solid);
    gl.colorMask(true, true, true, true);
    gl.enable(gl.BLEND);
    bones(this.solid);
    gl.disable(gl.BLEND);
  }

  drawLines(clip, w, h) {
    if (!this.strokeCount) return;
    this.line.use({ clip, screen: [w, h], width: Math.max(1.2, h / 260) });
    gl.bindVertexArray(this.strokes);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.strokeCount);
  }
}
