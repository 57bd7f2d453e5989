// A colour for each class of calls: those of Okabe and Ito, which colour-blind people can tell apart.

const COLOURS = {
  "point-to-point": "#0072b2",
  completion: "#56b4e9",
  collective: "#e69f00",
  "one-sided": "#cc79a7",
  file: "#009e73",
  communicator: "#f0e442",
  datatype: "#8a6fb0",
  process: "#7f7f7f",
  query: "#b0a8a0",
  event: "#444444",
  other: "#a3b18a",
};

export const WAITING = "#d55e00";
export const colourOf = (callClass) => COLOURS[callClass] ?? COLOURS.other;

/** As a pixel of an ImageData. */
export function pixelOf(colour) {
  const number = parseInt(colour.slice(1), 16);
  return (0xff000000 | ((number & 255) << 16) | (number & 0xff00) | (number >> 16)) >>> 0;
}
