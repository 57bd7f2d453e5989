// Reads what hdtrace/report/packed.h packs.

/** What a stream of zlib has in it. */
export async function unpack(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class Packed {
  constructor(bytes, position = 0) {
    this.bytes = bytes;
    this.position = position;
  }

  number() {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = this.bytes[this.position++];
      if (byte < 128) return value + byte * factor;
      value += (byte - 128) * factor;
      factor *= 128;
    }
  }

  signed() {
    const number = this.number();
    return number % 2 ? -(number + 1) / 2 : number / 2;
  }

  byte() {
    return this.bytes[this.position++];
  }

  double() {
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.position, 8);
    this.position += 8;
    return view.getFloat64(0, true);
  }

  /** A column, which stands behind its size; this continues behind it. */
  column() {
    const size = this.number();
    const column = new Packed(this.bytes, this.position);
    this.position += size;
    return column;
  }
}
