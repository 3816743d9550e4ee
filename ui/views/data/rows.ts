/** The rows of a table, as a part of the page follows them. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Find } from '../../client/types.ts'
import { type CursorPages, type Row, openCursorPages } from './cursor-pages.ts'

export interface Rows {
  /** How many documents match; undefined until the first page arrived. */
  readonly total: number | undefined
  readonly at: (index: number) => Row | undefined
  readonly failure: unknown
  readonly isLoading: boolean
  /** Says which rows are visible, so that their pages are read. */
  readonly show: (first: number, last: number) => void
  readonly reload: () => void
}

/** More rows would be higher than what browsers can scroll. */
export const MAX_ROWS = 900_000

/** `key` changes with what is found; the rows are then read from the beginning. */
export function useRows(find: Find, key: string): Rows {
  // the previous total stays until the first page arrived
  const [total, setTotal] = useState<number>()
  const [, setRevision] = useState(0)
  const [generation, setGeneration] = useState(0)
  const pages = useRef<CursorPages>(undefined)
  const shown = useRef<readonly [number, number]>([0, 0])
  useEffect(() => {
    const opened = openCursorPages(find, () => {
      if (pages.current !== opened) return
      setTotal((before) => opened.total() ?? before)
      setRevision((before) => before + 1)
    })
    pages.current = opened
    opened.show(...shown.current)
    return () => opened.close()
  }, [key, generation])
  return {
    total,
    failure: pages.current?.failure(),
    isLoading: pages.current?.isLoading() ?? true,
    at: (index) => pages.current?.at(index),
    show: useCallback((first, last) => {
      shown.current = [first, last]
      pages.current?.show(first, last)
    }, []),
    reload: useCallback(() => setGeneration((before) => before + 1), []),
  }
}
