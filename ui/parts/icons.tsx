/** The icons of the page, drawn on a grid of 16. They are decoration: a label stands beside each, or on its button. */
import type { JSX } from 'preact'

const PATHS = {
  data: 'M2 4c0-1.100 2.700-2 6-2s6 .9 6 2-2.700 2-6 2-6-.9-6-2Zm0 0v8c0 1.100 2.700 2 6 2s6-.9 6-2V4M2 8c0 1.100 2.700 2 6 2s6-.9 6-2',
  schemas: 'M2.500 2.500h4v4h-4zM9.500 9.500h4v4h-4zM4.500 6.500v5h5',
  access: 'M4 7V5a4 4 0 0 1 8 0v2M3 7h10v7H3zM8 10v1.500',
  events: 'M9 1.500 3 9h4.500L7 14.500 13 7H8.500z',
  status: 'M1.500 9h3L6.500 3.500l3 9 2-5.500h3',
  docs: 'M3 2h7l3 3v9H3zM10 2v3h3M5.500 8h5M5.500 11h5',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.500-1.500L14 14',
  plus: 'M8 3v10M3 8h10',
  close: 'm3.500 3.500 9 9m0-9-9 9',
  theme: 'M8 2a6 6 0 1 0 6 6A4.500 4.500 0 0 1 8 2Z',
  user: 'M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm-5.500 6c.5-3 2.500-4 5.500-4s5 1 5.500 4',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Zm0-9v3.500l2.500 1.500',
  copy: 'M5.500 5.500h8v8h-8zM3.500 10.500h-1v-8h8v1',
  edit: 'M11 2.500 13.500 5 5.500 13l-3 .5.5-3zM9.500 4 12 6.500',
  trash: 'M2.500 4h11M6 4V2.500h4V4M4 4l.6 9.500h6.800L12 4',
  download: 'M8 2v8m0 0 3-3m-3 3L5 7M2.500 13.500h11',
  upload: 'M8 10V2m0 0 3 3M8 2 5 5M2.500 13.500h11',
  explain: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Zm-1.500-7.500A1.500 1.500 0 1 1 8 8v1m0 2v.1',
  filter: 'M2 3h12L9.500 8.500V13l-3-1.500v-3z',
  columns: 'M2.500 2.500h11v11h-11zM6.200 2.500v11M9.800 2.500v11',
  lock: 'M4.500 7V5a3.500 3.500 0 0 1 7 0v2M3.500 7h9v6.500h-9z',
  arrow: 'M3 8h10m-4-4 4 4-4 4',
  up: 'M8 13V3m0 0 4 4M8 3 4 7',
  keyboard: 'M1.500 4h13v8h-13zM4 6.500h.1M6.700 6.500h.1M9.300 6.500h.1M12 6.500h.1M4.500 9.500h7',
  refresh: 'M13.500 8A5.500 5.500 0 1 1 11.500 3.800M13.500 1.500v3h-3',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
