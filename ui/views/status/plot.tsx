/** A small plot of the last minutes. */
import type { JSX } from 'preact'

interface PlotProps {
  readonly title: string
  readonly unit: string
  readonly values: readonly number[]
}

const WIDTH = 300
const HEIGHT = 80

export function Plot({ title, unit, values }: PlotProps): JSX.Element {
  const most = Math.max(...values, 0.000_1)
  const step = WIDTH / Math.max(1, values.length - 1)
  const points = values.map(
    (value, i) => `${(i * step).toFixed(1)},${(HEIGHT - (value / most) * (HEIGHT - 6)).toFixed(1)}`,
  )
  const current = values.at(-1) ?? 0
  return (
    <figure class="plot">
      <figcaption>
        {title}
        <strong>
          {short(current)} <small>{unit}</small>
        </strong>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${short(current)} ${unit} now, at most ${short(most)} ${unit} in the last minutes`}
      >
        {points.length > 1 && (
          <>
            <polygon points={`0,${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}`} class="area" />
            <polyline points={points.join(' ')} class="line" />
          </>
        )}
      </svg>
      <small>at most {short(most)}</small>
    </figure>
  )
}

function short(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en')
  return value.toFixed(value >= 10 ? 1 : 2)
}
