/** The table: only visible rows exist, and of many columns those that are near. It is one stop of the Tab key; arrows move, Enter opens. */
import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { sameJson, textOf } from '../../client/json.ts'
import { Icon } from '../../parts/icons.tsx'
import { Value } from '../../parts/value.tsx'
import { type Column, isSortable, valueAt } from '../../schema/columns.ts'
import type { Row } from './cursor-pages.ts'
import { MAX_ROWS, type Rows } from './rows.ts'
import type { SortKey } from './sorting.ts'

interface TableProps {
  readonly rows: Rows
  readonly columns: readonly Column[]
  readonly hidden: ReadonlySet<string>
  readonly label: string
  readonly sort: readonly SortKey[]
  readonly selected: ReadonlySet<string>
  readonly openId: string | undefined
  readonly onSort: (path: string, isAdded: boolean) => void
  readonly onOpen: (row: Row) => void
  readonly onSelect: (row: Row) => void
  readonly onExplainHidden: (path: string) => void
}

const ROW = 36
const HEAD = 38
/** Rows beyond the visible ones, so that a quick scroll shows no gap. */
const AHEAD = 12
const SELECT_WIDTH = 40
/** The same for columns; which ones exist changes in steps, since all rows change with them. */
const AHEAD_PX = 1_500
const STEP_PX = 500

export function Table(props: TableProps): JSX.Element {
  const { rows, columns, label } = props
  const { onOpen, onSelect } = useStable(props)
  const scroller = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ first: 0, count: 30, left: 0, width: 3 })
  const [active, setActive] = useState(0)
  const total = Math.min(rows.total ?? 0, MAX_ROWS)

  const measure = (): void => {
    const element = scroller.current
    if (!element) return
    const first = Math.max(0, Math.floor(element.scrollTop / ROW))
    const count = Math.ceil(element.clientHeight / ROW)
    const left = Math.floor(element.scrollLeft / STEP_PX)
    const width = Math.ceil(element.clientWidth / STEP_PX) + 1
    const next = { first, count, left, width }
    setView((before) => (sameJson(before, next) ? before : next))
  }
  useLayoutEffect(() => {
    measure()
    const observer = new ResizeObserver(measure)
    if (scroller.current) observer.observe(scroller.current)
    return () => observer.disconnect()
  }, [])
  const from = Math.max(0, view.first - AHEAD)
  const to = Math.min(total, view.first + view.count + AHEAD)
  useEffect(() => {
    if (total > 0) rows.show(from, Math.max(from, to - 1))
  }, [from, to, total, rows.show])

  const move = (index: number): void => {
    const next = Math.max(0, Math.min(total - 1, index))
    setActive(next)
    const element = scroller.current
    if (!element) return
    const top = next * ROW
    const visible = element.clientHeight - HEAD
    if (top < element.scrollTop) element.scrollTop = top
    else if (top + ROW > element.scrollTop + visible) element.scrollTop = top + ROW - visible
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== scroller.current) return
    const row = rows.at(active)
    const moves: Readonly<Partial<Record<string, () => void>>> = {
      ArrowDown: () => move(active + 1),
      ArrowUp: () => move(active - 1),
      PageDown: () => move(active + view.count - 2),
      PageUp: () => move(active - view.count + 2),
      Home: () => move(0),
      End: () => move(total - 1),
      Enter: () => row && onOpen(row),
      ' ': () => row && onSelect(row),
    }
    const run = moves[event.key]
    if (!run) return
    event.preventDefault()
    run()
  }
  const near = useMemo(() => {
    const [start, end] = [view.left * STEP_PX, (view.left + view.width) * STEP_PX]
    return columnsBetween(columns, start - AHEAD_PX, end + AHEAD_PX)
  }, [columns, view.left, view.width])
  const template = `${SELECT_WIDTH}px ${columns.map(({ width }) => `${width}px`).join(' ')} minmax(0, 1fr)`
  const width = SELECT_WIDTH + columns.reduce((sum, each) => sum + each.width, 0)
  return (
    <div
      ref={scroller}
      class="grid"
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={total + 1}
      aria-colcount={columns.length + 1}
      aria-activedescendant={rows.at(active) ? `row-${active}` : undefined}
      aria-busy={rows.isLoading}
      onScroll={measure}
      onKeyDown={onKeyDown}
      style={{ '--columns': template, '--width': `${width}px` }}
    >
      <Head {...props} />
      <div class="grid-rows" role="rowgroup" style={{ height: `${total * ROW}px` }}>
        {Array.from({ length: Math.max(0, to - from) }, (_, i) => (
          <TableRow
            key={from + i}
            {...props}
            near={near}
            onOpen={onOpen}
            onSelect={onSelect}
            index={from + i}
            isActive={from + i === active}
          />
        ))}
      </div>
    </div>
  )
}

/** Columns that follow each other. */
interface NearColumns {
  /** The place of the first one among all. */
  readonly first: number
  readonly columns: readonly Column[]
}

function columnsBetween(columns: readonly Column[], start: number, end: number): NearColumns {
  let right = SELECT_WIDTH
  const isNear = columns.map(({ width }) => {
    right += width
    return right > start && right - width < end
  })
  return { first: isNear.indexOf(true), columns: columns.filter((_, i) => isNear[i]) }
}

type Handlers = Pick<TableProps, 'onOpen' | 'onSelect'>

/** The same functions with each render, so that rows need not be made again; they call the latest ones. */
function useStable({ onOpen, onSelect }: Handlers): Handlers {
  const latest = useRef<Handlers>({ onOpen, onSelect })
  latest.current = { onOpen, onSelect }
  return useMemo(
    () => ({
      onOpen: (row) => latest.current.onOpen(row),
      onSelect: (row) => latest.current.onSelect(row),
    }),
    [],
  )
}

function Head({ columns, hidden, sort, onSort, onExplainHidden }: TableProps): JSX.Element {
  return (
    <div class="grid-head" role="rowgroup">
      <div class="grid-row" role="row" aria-rowindex={1}>
        <span role="columnheader" aria-colindex={1} class="select">
          <span class="sr-only">Selected</span>
        </span>
        {columns.map((column, i) => {
          const { path, field } = column
          const place = sort.findIndex((each) => each.path === path)
          const key = sort[place]
          const direction = key && (key.isDescending ? 'descending' : 'ascending')
          return (
            <span
              key={path}
              role="columnheader"
              aria-colindex={i + 2}
              aria-sort={direction ?? 'none'}
              class={field.type}
            >
              {hidden.has(path) ? (
                <button
                  type="button"
                  class="column hidden-field"
                  title="You may not read this field. Click to see which rule hides it."
                  onClick={() => onExplainHidden(path)}
                >
                  <Icon name="lock" />
                  {path}
                </button>
              ) : isSortable(column) ? (
                <button
                  type="button"
                  class="column"
                  title={`${field.type}; click to sort, with Shift to add to the sort`}
                  onClick={(event) => onSort(path, event.shiftKey)}
                >
                  {path}
                  {key && <span aria-hidden="true">{key.isDescending ? ' ↓' : ' ↑'}</span>}
                  {key && sort.length > 1 && <sup>{place + 1}</sup>}
                </button>
              ) : (
                <span class="column" title={field.type}>
                  {path}
                </span>
              )}
            </span>
          )
        })}
      </div>
    </div>
  )
}

type RowProps = TableProps & {
  readonly near: NearColumns
  readonly index: number
  readonly isActive: boolean
}

/** Rows that stay visible while others scroll by are not made again. */
function TableRow(props: RowProps): JSX.Element {
  const { rows, near, hidden, index, isActive, selected, openId, onOpen, onSelect } = props
  const row = rows.at(index)
  const id = row && textOf(row.document['_id'])
  const isSelected = id !== undefined && selected.has(id)
  const isOpen = id !== undefined && id === openId
  const classes = ['grid-row', isActive && 'active', isOpen && 'open', isSelected && 'selected']
  return useMemo(
    () => (
      <div
        id={`row-${index}`}
        class={classes.filter(Boolean).join(' ')}
        role="row"
        aria-rowindex={index + 2}
        aria-selected={isSelected}
        style={{ transform: `translateY(${index * ROW}px)` }}
        onClick={() => row && onOpen(row)}
      >
        <span role="gridcell" aria-colindex={1} class="select" onClick={(event) => event.stopPropagation()}>
          {row && (
            <input
              type="checkbox"
              tabIndex={-1}
              aria-label={`Select ${id}`}
              checked={isSelected}
              onChange={() => onSelect(row)}
            />
          )}
        </span>
        {near.columns.map(({ path, field }, i) => (
          <span
            key={path}
            role="gridcell"
            aria-colindex={near.first + i + 2}
            class={field.type}
            // the others follow it
            style={i === 0 ? { gridColumnStart: near.first + 2 } : {}}
          >
            {!row ? (
              <span class="skeleton" />
            ) : hidden.has(path) ? (
              <span class="hidden-value" title="hidden from this caller">
                ···
              </span>
            ) : (
              <Value value={valueAt(row.document, path)} field={field} />
            )}
          </span>
        ))}
      </div>
    ),
    [row, near, hidden, index, isActive, isSelected, isOpen, onOpen, onSelect],
  )
}
