/** Checks the generators of a version: each must be able to generate a value that a document could have. */
import { ServiceError } from '../../base/errors.ts'
import { type Schema, allFields } from '../../schema/schema.ts'
import { generatorProblem } from './possible-values.ts'

/** A uid without a generator passes, because clients may send all of its values. */
export function checkGenerators({ root }: Schema): void {
  for (const field of allFields(root.fields)) {
    if (field.kind !== 'simple' || !field.generator) continue
    const problem = generatorProblem(field)
    if (problem === undefined) continue
    const { path } = field
    throw new ServiceError('metadata:InvalidGenerator', `"${path}": ${problem}`, {
      context: `fields/${path}`,
    })
  }
}
