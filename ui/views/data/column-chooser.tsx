/** Chooses the columns of the table. */
import type { JSX } from 'preact'
import { change } from '../../app/place.ts'
import { Icon } from '../../parts/icons.tsx'
import { Menu } from '../../parts/menu.tsx'
import type { Column } from '../../schema/columns.ts'
import { printPaths } from '../../schema/path-list.ts'

interface ColumnChooserProps {
  readonly columns: readonly Column[]
  readonly shown: readonly Column[]
}

const BUTTON = (
  <>
    <Icon name="columns" />
    <span class="label">Columns</span>
  </>
)

export function ColumnChooser({ columns, shown }: ColumnChooserProps): JSX.Element {
  const paths = shown.map(({ path }) => path)
  const toggle = (path: string): void => {
    const next = paths.includes(path) ? paths.filter((each) => each !== path) : [...paths, path]
    if (next.length > 0) change({ cols: printPaths(next) }, true)
  }
  return (
    <Menu title="Columns" button={BUTTON}>
      {() => (
        <fieldset class="popover">
          <legend class="sr-only">Columns</legend>
          {columns.map(({ path, field }) => (
            <label key={path} class="check">
              <input type="checkbox" checked={paths.includes(path)} onChange={() => toggle(path)} />
              <span>{path}</span>
              <small>{field.type}</small>
            </label>
          ))}
          <button type="button" class="quiet" onClick={() => change({ cols: undefined }, true)}>
            The usual ones
          </button>
        </fieldset>
      )}
    </Menu>
  )
}
