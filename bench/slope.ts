/** The slope of the line that fits points best (least squares). */

export type Point = readonly [x: number, y: number]

/** Zero if there are fewer than two different x. */
export function slopeOf(points: readonly Point[]): number {
  const count = points.length
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / count
  const square = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
  const product = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0)
  return square > 0 ? product / square : 0
}
