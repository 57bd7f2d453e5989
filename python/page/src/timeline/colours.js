// A colour for each class of calls: those of Okabe and Ito, which colour-blind people can tell apart. Figures have the same.

import COLOURS from "../../colours.json";

export const WAITING = "#d55e00";
export const colourOf = (callClass) => COLOURS[callClass] ?? COLOURS.other;

/** As a pixel of an ImageData. */
export function pixelOf(colour) {
  const number = parseInt(colour.slice(1), 16);
  return (0xff000000 | ((number & 255) << 16) | (number & 0xff00) | (number >> 16)) >>> 0;
}

/** Black or white, whichever can be read on a colour. */
export function inkOn(colour) {
  const channel = (i) => {
    const value = parseInt(colour.slice(1 + 2 * i, 3 + 2 * i), 16) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(0) + 0.7152 * channel(1) + 0.0722 * channel(2) > 0.179 ? "#000000" : "#ffffff";
}
