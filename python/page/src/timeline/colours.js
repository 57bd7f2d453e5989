// A colour for each class of calls: those of Okabe and Ito, which colour-blind people can tell apart. Figures have the same.

import COLOURS from "../../colours.json";

export const WAITING = "#d55e00";
export const colourOf = (callClass) => COLOURS[callClass] ?? COLOURS.other;

/** As a pixel of an ImageData. */
export function pixelOf(colour) {
  const number = parseInt(colour.slice(1), 16);
  return (0xff000000 | ((number & 255) << 16) | (number & 0xff00) | (number >> 16)) >>> 0;
}
