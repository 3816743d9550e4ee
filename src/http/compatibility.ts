/** The one place that decides by the setting `compatibility`: which dialect the service speaks, and which routes it has. */
import { type Dialect, SMALT } from '../service/dialect.ts'
import type { ServiceOptions } from '../service/open.ts'
import { lightblueDialect } from './lightblue/dialect.ts'
import { lightblueMetadata } from './lightblue/metadata.ts'
import { LIGHTBLUE_ROUTES } from './lightblue/routes.ts'
import type { Route } from './routes/route.ts'
import { ROUTES } from './routes/routes.ts'

export const COMPATIBILITIES = ['lightblue'] as const
export type Compatibility = (typeof COMPATIBILITIES)[number]

export function dialectFor(
  compatibility: Compatibility | undefined,
  warn: (message: string) => void,
): Dialect {
  return compatibility === 'lightblue' ? lightblueDialect(warn) : SMALT
}

/** How the service reads and prints what its clients send and receive. */
export function formFor(
  compatibility: Compatibility | undefined,
  warn: (message: string) => void,
): Pick<ServiceOptions, 'dialect' | 'adaptMetadata'> {
  const dialect = dialectFor(compatibility, warn)
  return compatibility === 'lightblue' ? { dialect, adaptMetadata: lightblueMetadata } : { dialect }
}

export function routesFor(compatibility: Compatibility | undefined): readonly Route[] {
  return compatibility === 'lightblue' ? replaced(ROUTES, LIGHTBLUE_ROUTES) : ROUTES
}

/** Programs written for Lightblue may send one. */
export function ignoresBodyOfGet(compatibility: Compatibility | undefined): boolean {
  return compatibility === 'lightblue'
}

/** Routes with the others in place of those that have the same address. */
function replaced(routes: readonly Route[], others: readonly Route[]): readonly Route[] {
  const addressOf = ({ method, path }: Route): string => `${method} ${path}`
  const taken = new Set(others.map(addressOf))
  return [...routes.filter((route) => !taken.has(addressOf(route))), ...others]
}
