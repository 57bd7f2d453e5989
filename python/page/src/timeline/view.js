// Which time and which lanes are seen.

const SHORTEST = 20; // nanoseconds in all

export const HIGHEST_LANE = 34; // pixels

export class View {
  constructor(run) {
    this.run = run;
    this.width = 1;
    this.height = 1;
    this.top = 0; // pixels of lanes above what is seen
    this.laneHeight = 20;
    this.whole = Math.max(run.duration, SHORTEST); // what can be seen; runs that are compared have the same
    this.fit();
  }

  fit() {
    this.begin = 0;
    this.end = this.whole;
    this.fitLanes();
  }

  fitLanes() {
    this.laneHeight = Math.min(HIGHEST_LANE, Math.max(6, Math.floor(this.height / Math.max(1, this.run.order.length))));
    this.top = 0;
  }

  /** How much of the run is seen: beside it may be room. */
  get seen() {
    return Math.max(0, Math.min(this.end, this.run.duration) - Math.max(this.begin, 0));
  }
  get scale() {
    return this.width / (this.end - this.begin);
  }
  x(time) {
    return (time - this.begin) * this.scale;
  }
  timeAt(x) {
    return this.begin + x / this.scale;
  }
  y(lane) {
    return lane.row * this.laneHeight - this.top;
  }
  laneAt(y) {
    return this.run.order[Math.floor((y + this.top) / this.laneHeight)] ?? null;
  }
  get visible() {
    const first = Math.max(0, Math.floor(this.top / this.laneHeight));
    return this.run.order.slice(first, Math.ceil((this.top + this.height) / this.laneHeight));
  }

  show(begin, end) {
    const length = Math.min(Math.max(end - begin, SHORTEST), this.whole * 1.02);
    const centre = Math.min(Math.max((begin + end) / 2, 0), this.whole);
    this.begin = centre - length / 2;
    this.end = centre + length / 2;
  }
  zoom(factor, x = this.width / 2) {
    const at = this.timeAt(x);
    this.show(at - (at - this.begin) * factor, at + (this.end - at) * factor);
  }
  pan(pixels) {
    const time = pixels / this.scale;
    this.show(this.begin + time, this.end + time);
  }
  scroll(pixels) {
    const most = Math.max(0, this.run.order.length * this.laneHeight - this.height);
    this.top = Math.min(Math.max(0, this.top + pixels), most);
  }
  reveal(lane) {
    const y = this.y(lane);
    if (y < 0 || y + this.laneHeight > this.height) this.scroll(y - this.height / 2);
  }
}
