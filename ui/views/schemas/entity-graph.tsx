/** The graph of all entities and their references. References that close a cycle are dashed and marked. */
import type { JSX } from 'preact'
import { useLoaded } from '../../app/loading.ts'
import { href } from '../../app/place.ts'
import { client } from '../../app/session.ts'
import { Failure, Progress } from '../../parts/notices.tsx'
import { type Edge, graphOf } from '../../schema/graph.ts'

const WIDTH = 170
const HEIGHT = 40
const GAP_X = 90
const GAP_Y = 18
const MARGIN = 24

export function EntityGraph({ revision }: { readonly revision: number }): JSX.Element {
  const nodes = useLoaded(() => client.dependencies(), [revision])
  if (nodes.failure !== undefined) return <Failure failure={nodes.failure} onRetry={nodes.reload} />
  if (!nodes.value) return <Progress label="Loading references" />
  const { layers, edges } = graphOf(nodes.value)
  const places = new Map(
    layers.flatMap((names, column) =>
      names.map((name, row) => {
        const place = { x: MARGIN + column * (WIDTH + GAP_X), y: MARGIN + row * (HEIGHT + GAP_Y) }
        return [name, place] as const
      }),
    ),
  )
  const rows = Math.max(1, ...layers.map(({ length }) => length))
  const width = 2 * MARGIN + layers.length * (WIDTH + GAP_X) - GAP_X + 40
  const height = 2 * MARGIN + rows * (HEIGHT + GAP_Y)
  const cycles = edges.filter(({ isCycle }) => isCycle)
  return (
    <>
      <div class="graph" tabIndex={0} role="region" aria-label="Graph of entities">
        <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
          <defs>
            <marker
              id="head"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="8"
              markerHeight="8"
              orient="auto"
            >
              <path d="M0 0 8 4 0 8z" class="arrow-head" />
            </marker>
          </defs>
          {edges.map((edge) => (
            <path
              key={`${edge.from} ${edge.to}`}
              class={edge.isCycle ? 'edge cycle' : 'edge'}
              d={curve(places, edge)}
              marker-end="url(#head)"
            />
          ))}
          {[...places].map(([name, { x, y }]) => (
            <a key={name} href={href(['schemas', name])}>
              <rect x={x} y={y} width={WIDTH} height={HEIGHT} rx="8" class="node" />
              <text x={x + WIDTH / 2} y={y + HEIGHT / 2} class="node-name">
                {name.length > 22 ? `${name.slice(0, 21)}…` : name}
              </text>
            </a>
          ))}
        </svg>
      </div>
      <ul class="edges">
        {edges.map(({ from, to, isCycle }) => (
          <li key={`${from} ${to}`}>
            {from} → {to} {isCycle && <span class="badge conditional">cycle</span>}
          </li>
        ))}
        {edges.length === 0 && <li class="hint">No entity refers to another one.</li>}
        {cycles.length > 0 && <li class="hint">A cycle is allowed; requests say how far they follow it.</li>}
      </ul>
    </>
  )
}

type Places = ReadonlyMap<string, { readonly x: number; readonly y: number }>

function curve(places: Places, { from, to }: Edge): string {
  const [start, end] = [places.get(from)!, places.get(to)!]
  const [y1, y2] = [start.y + HEIGHT / 2, end.y + HEIGHT / 2]
  if (start.x < end.x) {
    const [x1, x2] = [start.x + WIDTH, end.x]
    return `M${x1} ${y1}C${x1 + GAP_X / 2} ${y1} ${x2 - GAP_X / 2} ${y2} ${x2} ${y2}`
  }
  // a reference to itself or to the left goes around the right side
  const [x1, x2] = [start.x + WIDTH, end.x + WIDTH]
  const out = Math.max(x1, x2) + 34
  const [from1, to1] = from === to ? [y1 - 8, y2 + 8] : [y1, y2]
  return `M${x1} ${from1}C${out} ${from1} ${out} ${to1} ${x2} ${to1}`
}
