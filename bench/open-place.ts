/** Opens the place of the documents by the name of the store. */
import type { Program } from './children.ts'
import type { StoreName } from './figure.ts'
import { postgresPlace } from './place-postgres.ts'
import { type Place, sqlitePlace } from './place.ts'

export async function openPlace(store: StoreName, program: Program = 'src/cli/main.ts'): Promise<Place> {
  return store === 'postgres' ? await postgresPlace(program) : sqlitePlace(program)
}
