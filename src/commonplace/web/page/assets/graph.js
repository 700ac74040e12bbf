// The picture of the graph on a canvas: points find their places by themselves, one can zoom, move, find and open them.
"use strict";

const ROUGH = 3000; // lines that are drawn while the picture moves; all of them stand there when it rests
const FEW = 400; // points up to which each repels each other, and is drawn as a circle
const REACH = 60; // how far points repel each other if there are many: 10,000 stay quick
const MOST_NEAR = 12; // points of a row of cells by which one is repelled; of more, every second, third, ...

class Picture {
  constructor(box, graph) {
    this.box = box;
    this.canvas = box.querySelector("canvas");
    this.said = box.querySelector(".graph-said");
    this.screen = this.canvas.getContext("2d");
    this.scene = document.createElement("canvas"); // points and lines; names are drawn over it, quickly
    this.pen = this.scene.getContext("2d");
    this.nodes = graph.nodes.map(([id, kind, label, links]) => ({ id, kind, label, links }));
    this.edges = graph.edges;
    const count = this.nodes.length;
    this.x = new Float32Array(count);
    this.y = new Float32Array(count);
    this.dx = new Float32Array(count);
    this.dy = new Float32Array(count);
    this.found = new Set();
    this.under = -1;
    this.steps = 0;
    this.rest = count > 3000 ? 150 : 400; // steps until the points stay where they are
    this.cellOf = new Int32Array(count);
    this.order = new Int32Array(count);
    this.moved = 0;
    this.isMoving = this.isRenamed = false;
    this.place();
    this.readColours();
    this.listen();
    this.fit();
    this.tick();
  }

  // A spiral, those with the most links in the middle: the same graph always looks the same.
  place() {
    for (let i = 0; i < this.nodes.length; i++) {
      const radius = 14 * Math.sqrt(i);
      this.x[i] = radius * Math.cos(i * 2.39996);
      this.y[i] = radius * Math.sin(i * 2.39996);
    }
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    this.colours = { note: colour("--accent"), entry: colour("--good"), entity: colour("--warn") };
    this.line = colour("--rule");
    this.ink = colour("--ink");
    this.paper = colour("--sheet");
  }

  // Sorts all points by the cells of a grid: those of a cell are order[first[cell]] to order[first[cell + 1] - 1].
  sortByCell() {
    const { x, y, cellOf, order } = this;
    let [left, right, top, bottom] = [0, 1, 0, 1];
    for (let i = 0; i < x.length; i++) {
      left = Math.min(left, x[i]);
      right = Math.max(right, x[i]);
      top = Math.min(top, y[i]);
      bottom = Math.max(bottom, y[i]);
    }
    const side = Math.max(REACH, (right - left) / 200, (bottom - top) / 200);
    const columns = Math.floor((right - left) / side) + 3;
    const rows = Math.floor((bottom - top) / side) + 3;
    const first = new Int32Array(columns * rows + 1);
    for (let i = 0; i < x.length; i++) {
      cellOf[i] = (Math.floor((y[i] - top) / side) + 1) * columns + Math.floor((x[i] - left) / side) + 1;
      first[cellOf[i] + 1] += 1;
    }
    for (let cell = 1; cell < first.length; cell++) first[cell] += first[cell - 1];
    const next = first.slice();
    for (let i = 0; i < x.length; i++) order[next[cellOf[i]]++] = i;
    return { first, columns };
  }

  // Each point is repelled by those within its reach, which are in its cell and the eight around it.
  step() {
    const { x, y, dx, dy, cellOf, order } = this;
    const heat = 1 - this.steps / this.rest;
    if (x.length <= FEW) return this.stepExactly(heat);
    const { first, columns } = this.sortByCell();
    for (let i = 0; i < x.length; i++) {
      let fx = -x[i] * 0.006;
      let fy = -y[i] * 0.006;
      for (let middle = cellOf[i] - columns; middle <= cellOf[i] + columns; middle += columns) {
        const end = first[middle + 2];
        const stride = Math.max(1, Math.ceil((end - first[middle - 1]) / MOST_NEAR));
        for (let k = first[middle - 1] + (i % stride); k < end; k += stride) {
          const ax = x[i] - x[order[k]] + (i - order[k]) * 1e-4; // two points at one place part, too
          const ay = y[i] - y[order[k]];
          const distance = ax * ax + ay * ay;
          if (distance >= REACH * REACH) continue;
          const force = (stride * 30 * (1 - distance / (REACH * REACH))) / (distance + 30);
          fx += ax * force;
          fy += ay * force;
        }
      }
      dx[i] = (dx[i] + fx) * 0.75;
      dy[i] = (dy[i] + fy) * 0.75;
    }
    this.pull();
    this.move(heat);
  }

  // Few points repel each other one by one, which looks better than by cells of a grid.
  stepExactly(heat) {
    const { x, y, dx, dy } = this;
    for (let i = 0; i < x.length; i++) {
      let fx = -x[i] * 0.035;
      let fy = -y[i] * 0.035;
      for (let j = 0; j < x.length; j++) {
        const ax = x[i] - x[j];
        const ay = y[i] - y[j];
        const force = 60 / (ax * ax + ay * ay + 30);
        fx += ax * force;
        fy += ay * force;
      }
      dx[i] = (dx[i] + fx) * 0.75;
      dy[i] = (dy[i] + fy) * 0.75;
    }
    this.pull();
    this.move(heat);
  }

  pull() {
    const { x, y, dx, dy } = this;
    for (const [from, to] of this.edges) {
      const ex = x[to] - x[from];
      const ey = y[to] - y[from];
      const length = Math.sqrt(ex * ex + ey * ey) + 0.01;
      const pull = (((length - 45) / length) * 0.03) / (1 + Math.sqrt(this.nodes[from].links + this.nodes[to].links) / 4);
      dx[from] += ex * pull;
      dy[from] += ey * pull;
      dx[to] -= ex * pull;
      dy[to] -= ey * pull;
    }
  }

  move(heat) {
    const { x, y, dx, dy } = this;
    for (let i = 0; i < x.length; i++) {
      x[i] += Math.max(-12, Math.min(12, dx[i])) * heat;
      y[i] += Math.max(-12, Math.min(12, dy[i])) * heat;
    }
    this.steps += 1;
  }

  tick() {
    const start = performance.now();
    if (this.steps < this.rest) {
      do this.step();
      while (this.steps < this.rest && performance.now() - start < 12);
      if (!this.isMoved) this.fit();
      this.isMoving = this.isDirty = true;
      if (this.steps === this.rest) this.box.dataset.rest = "yes";
    }
    // What moves is drawn roughly, however long a picture takes, and in full once it has rested for a moment.
    if (this.isMoving) this.moved = start;
    if (this.isDirty || (this.isRough && start - this.moved > 150)) this.draw(this.isMoving);
    else if (this.isRenamed) this.show();
    this.isMoving = false;
    requestAnimationFrame(() => this.tick());
  }

  fit() {
    const ratio = window.devicePixelRatio || 1;
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    for (const each of [this.canvas, this.scene]) [each.width, each.height] = [width * ratio, height * ratio];
    this.ratio = ratio;
    if (!this.isMoved) {
      let widest = 60;
      for (let i = 0; i < this.x.length; i++) widest = Math.max(widest, Math.abs(this.x[i]), Math.abs(this.y[i]));
      this.scale = Math.min(2.5, Math.min(width, height) / 2 / (widest * 1.05));
      this.left = width / 2;
      this.top = height / 2;
    }
    this.isDirty = true;
  }

  draw(isMoving) {
    this.isDirty = false;
    this.isRough = isMoving && this.edges.length > ROUGH;
    const { pen, x, y, scale, left, top, ratio } = this;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * left, ratio * top);
    pen.strokeStyle = this.line;
    pen.lineWidth = 1.2 / scale;
    pen.beginPath();
    const last = this.isRough ? ROUGH : this.edges.length;
    for (let e = 0; e < last; e++) {
      const [from, to] = this.edges[e];
      pen.moveTo(x[from], y[from]);
      pen.lineTo(x[to], y[to]);
    }
    pen.stroke();
    const isSearch = this.found.size > 0;
    for (const kind of ["note", "entry", "entity"]) {
      pen.fillStyle = this.colours[kind];
      pen.globalAlpha = isSearch ? 0.2 : 0.9;
      for (let i = 0; i < x.length; i++) {
        if (this.nodes[i].kind !== kind || this.found.has(i)) continue;
        this.drawPoint(i);
      }
    }
    pen.globalAlpha = 1;
    for (const i of this.found) {
      pen.fillStyle = this.colours[this.nodes[i].kind];
      pen.beginPath();
      pen.arc(x[i], y[i], this.size(i) + 3 / scale, 0, 7);
      pen.fill();
    }
    this.show();
  }

  // The scene with the names over it.
  show() {
    const { screen, scale, left, top, ratio } = this;
    this.isRenamed = false;
    screen.setTransform(1, 0, 0, 1, 0, 0);
    screen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    screen.drawImage(this.scene, 0, 0);
    screen.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * left, ratio * top);
    this.drawLabels(screen);
  }

  // A circle takes longer than a square, and among thousands nobody sees the difference.
  drawPoint(i) {
    const { pen, x, y } = this;
    const size = this.size(i);
    if (x.length > FEW) return pen.fillRect(x[i] - size, y[i] - size, 2 * size, 2 * size);
    pen.beginPath();
    pen.arc(x[i], y[i], size * 1.8, 0, 7);
    pen.fill();
  }

  size(i) {
    return Math.min(7, 1.6 + Math.sqrt(this.nodes[i].links) * 0.5) / Math.max(1, this.scale / 2);
  }

  // The names of what is found, of what is under the pointer, and of the points with the most links.
  drawLabels(pen) {
    const { x, y, scale } = this;
    const named = this.found.size ? [...this.found].slice(0, 40) : [...Array(Math.min(30, x.length)).keys()];
    if (this.under >= 0) named.unshift(this.under);
    pen.font = `${13 / scale}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.lineWidth = 3 / scale;
    pen.strokeStyle = this.paper;
    pen.fillStyle = this.ink;
    const taken = [];
    for (const i of named) {
      const at = y[i] - this.size(i) - 5 / scale;
      const half = pen.measureText(this.nodes[i].label).width / 2;
      const isOver = (other) => Math.abs(other.x - x[i]) < other.half + half && Math.abs(other.at - at) < 15 / scale;
      if (i !== this.under && taken.some(isOver)) continue;
      taken.push({ x: x[i], at, half });
      pen.strokeText(this.nodes[i].label, x[i], at);
      pen.fillText(this.nodes[i].label, x[i], at);
    }
  }

  pointAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const px = (event.clientX - box.left - this.left) / this.scale;
    const py = (event.clientY - box.top - this.top) / this.scale;
    let best = -1;
    let nearest = (12 / this.scale) ** 2;
    for (let i = 0; i < this.x.length; i++) {
      const distance = (this.x[i] - px) ** 2 + (this.y[i] - py) ** 2;
      if (distance < nearest) [best, nearest] = [i, distance];
    }
    return best;
  }

  zoom(factor, atX = this.canvas.clientWidth / 2, atY = this.canvas.clientHeight / 2) {
    this.isMoved = true;
    const scale = Math.min(20, Math.max(0.01, this.scale * factor));
    this.left = atX - ((atX - this.left) * scale) / this.scale;
    this.top = atY - ((atY - this.top) * scale) / this.scale;
    this.scale = scale;
    this.isMoving = this.isDirty = true;
  }

  open(i) {
    const node = this.nodes[i];
    const path = node.id.split("/").map(encodeURIComponent).join("/");
    location.assign(node.kind === "entity" ? `/people/${encodeURIComponent(node.label)}` : `/notes/${path}`);
  }

  find(text) {
    const wanted = text.trim().toLowerCase();
    this.found = new Set();
    if (wanted) this.nodes.forEach((node, i) => node.label.toLowerCase().includes(wanted) && this.found.add(i));
    this.said.textContent = wanted ? `${this.found.size} found` : "";
    this.isDirty = true;
  }

  listen() {
    let from = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX, y: event.clientY, isClick: true };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (from) {
        if (Math.hypot(event.clientX - from.x, event.clientY - from.y) > 4) from.isClick = false;
        if (from.isClick) return;
        this.isMoved = true;
        this.left += event.movementX;
        this.top += event.movementY;
        this.isMoving = this.isDirty = true;
        return;
      }
      const under = this.pointAt(event);
      if (under === this.under) return;
      this.under = under;
      this.canvas.classList.toggle("on-point", under >= 0);
      this.isRenamed = true;
    });
    this.canvas.addEventListener("pointerup", (event) => {
      const isClick = from && from.isClick;
      from = null;
      const at = isClick ? this.pointAt(event) : -1;
      if (at >= 0) this.open(at);
    });
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const box = this.canvas.getBoundingClientRect();
        this.zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - box.left, event.clientY - box.top);
      },
      { passive: false },
    );
    for (const button of this.box.querySelectorAll("[data-zoom]"))
      button.addEventListener("click", () => this.zoom(Number(button.dataset.zoom)));
    const search = this.box.querySelector("#graph-find");
    search.addEventListener("input", () => this.find(search.value));
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && this.found.size) this.open([...this.found][0]);
    });
    window.addEventListener("resize", () => this.fit());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.readColours();
      this.isDirty = true;
    });
  }
}

const box = document.querySelector("[data-graph]");
if (box) {
  fetch(box.dataset.graph)
    .then((answer) => answer.json())
    .then((graph) => {
      box.hidden = false;
      box.picture = new Picture(box, graph);
    });
}
