/** The body of an operation that is tried: typed by the user, or made for the chosen entity, or the example. */
import { useState } from 'preact/hooks'
import { useLoaded } from '../../app/loading.ts'
import { client } from '../../app/session.ts'
import type { Metadata, Target } from '../../client/types.ts'
import { bodyFor } from './body-for.ts'
import type { Operation } from './operations.ts'

export interface Body {
  readonly text: string
  readonly onChange: (text: string) => void
  /** While the metadata of the entity are read, the text is still that of another one. */
  readonly isLoading: boolean
}

/** `entity` is undefined until one is chosen that exists. */
export function useBody(operation: Operation, entity: string | undefined, version: string): Body {
  const [typed, setTyped] = useState<string>()
  const { value, isLoading } = useLoaded(
    async () => (entity === undefined ? undefined : await metadataOf({ entity, version })),
    [entity, version],
  )
  // the metadata of the entity before stay for a moment
  const metadata = value?.entityInfo.name === entity ? value : undefined
  const made = metadata && bodyFor(operation, metadata, version)
  // what was typed stays, also where another entity is chosen
  return {
    text: typed ?? made ?? operation.body ?? '',
    onChange: setTyped,
    isLoading: entity !== undefined && isLoading,
  }
}

/** Of this version if there is one, else of the default one: the version may be about to be created. */
async function metadataOf({ entity, version }: Target): Promise<Metadata | undefined> {
  const versions = await client.versions(entity)
  const chosen =
    versions.find((each) => each.version === version) ??
    versions.find(({ defaultVersion }) => defaultVersion) ??
    versions.at(-1)
  return chosen && (await client.metadata({ entity, version: chosen.version }))
}
