/** Lays documents out in columns of text, for a terminal. */
import { type Json, isNumber, numberText } from '../../base/json/json.ts'

const MAX_WIDTH = 40

type Cells = ReadonlyMap<string, Json>

/** Widths are those of the sample. Returns the lines for one document; the first has the header before it. */
export function tableOf(
  columns: readonly string[],
  sample: readonly Cells[],
): (cells: Cells, i: number) => string {
  const titles = columns.map((name) => name.replace(/:json$/, ''))
  const widths = columns.map((name, i) => {
    const texts = [titles[i]!, ...sample.map((cells) => shown(cells.get(name)))]
    return Math.min(MAX_WIDTH, Math.max(...texts.map((text) => text.length)))
  })
  const isRight = columns.map((name) => sample.some((cells) => isNumber(cells.get(name))))
  const line = (texts: readonly string[]): string =>
    `${texts
      .map((text, i) => aligned(text, widths[i]!, isRight[i]!))
      .join('  ')
      .trimEnd()}\n`
  const header = line(titles) + line(widths.map((width) => '-'.repeat(width)))
  return (cells, i) => {
    const row = line(columns.map((name) => shown(cells.get(name))))
    return i === 0 ? header + row : row
  }
}

function aligned(text: string, width: number, isRight: boolean): string {
  const cut = text.length > width ? `${text.slice(0, width - 1)}…` : text
  return isRight ? cut.padStart(width) : cut.padEnd(width)
}

/** One line: control characters of a document must not reach the terminal. */
function shown(value: Json | undefined): string {
  if (value === undefined) return ''
  const text = typeof value === 'string' ? value : isNumber(value) ? numberText(value) : JSON.stringify(value)
  return text.replaceAll(/\p{Cc}/gu, ' ')
}
