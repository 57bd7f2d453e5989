// A picture that is made pixel by pixel: tens of thousands of small rectangles take a canvas ten times as long.

const HATCH = 6; // from line to line, in pixels of the page
const LINE = 2.2; // as wide as a line of these is, from left to right

/** Two colours in one pixel, as pixelOf() has them; share: of the first one. */
export function mixed(first, second, share) {
  let pixel = 0;
  for (const shift of [0, 8, 16, 24]) pixel |= Math.round(((first >>> shift) & 255) * share + ((second >>> shift) & 255) * (1 - share)) << shift;
  return pixel >>> 0;
}

export class Pixels {
  /** The picture of a canvas, of which `ratio` pixels are one of the page. */
  constructor(canvas, ratio) {
    Object.assign(this, { width: canvas.width, height: canvas.height, ratio });
    this.context = canvas.getContext("2d");
    this.image = this.context.createImageData(this.width, this.height);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  clear(pixel) {
    this.pixels.fill(pixel);
  }

  // All of a rectangle: from its left and top up to, but not with, right and bottom. Loops of their own are four times as fast as a shared one.

  fill(left, top, right, bottom, pixel) {
    const { pixels, width } = this;
    const [first, last, end] = [Math.max(0, left), Math.min(width, right), Math.min(this.height, bottom) * width];
    for (let row = Math.max(0, top) * width; row < end; row += width) for (let x = first; x < last; x++) pixels[row + x] = pixel;
  }

  hatch(left, top, right, bottom, pixel) {
    const { pixels, width } = this;
    const [first, last, end] = [Math.max(0, left), Math.min(width, right), Math.min(this.height, bottom)];
    const [period, line] = [Math.round(HATCH * this.ratio), Math.round(LINE * this.ratio)];
    for (let y = Math.max(0, top); y < end; y++)
      for (let x = first - ((first + y) % period); x < last; x += period)
        for (let i = Math.max(x, first); i < Math.min(x + line, last); i++) pixels[y * width + i] = pixel;
  }

  /** On the canvas, in the place of all that was drawn there. */
  show() {
    this.context.putImageData(this.image, 0, 0);
  }
}
