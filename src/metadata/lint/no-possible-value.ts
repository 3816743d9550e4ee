/**
 * A value of the service that can never fulfil the constraints of its field: each document that needs it is refused. New
 * metadata is refused for it, but earlier metadata may have it, and an enum may have lost values since.
 */
import type { ArrayField, SimpleField } from '../../schema/field.ts'
import { fieldPointer } from '../../schema/fields-on-path.ts'
import { type Schema, allFields } from '../../schema/schema.ts'
import type { Finding } from '../finding.ts'
import { defaultProblem, generatorProblem } from '../validate/possible-values.ts'
import type { Subject } from './subject.ts'

export function* noPossibleValue({ schemas }: Subject): Generator<Finding> {
  for (const schema of schemas) {
    for (const field of allFields(schema.root.fields)) {
      if (field.kind !== 'simple' && field.kind !== 'array') continue
      yield* ofGenerator(schema, field)
      yield* ofDefault(schema, field)
    }
  }
}

function* ofGenerator({ version }: Schema, field: SimpleField | ArrayField): Generator<Finding> {
  if (field.kind !== 'simple') return
  const problem = generatorProblem(field)
  if (problem === undefined) return
  const { path } = field
  const at = `/schema${fieldPointer(path)}`
  const code = 'no-possible-value'
  if (field.generator) {
    const msg = `"${path}": ${problem}; change the constraint, or remove the generator`
    yield { severity: 'warning', code, at: `${at}/valueGenerator`, version, msg }
  } else {
    // Clients that send each value are not affected.
    const msg = `"${path}": ${problem}, unless clients send one; change the constraint, or make the field a string`
    yield { severity: 'hint', code, at: `${at}/constraints`, version, msg }
  }
}

function* ofDefault({ version }: Schema, field: SimpleField | ArrayField): Generator<Finding> {
  const problem = defaultProblem(field)
  if (problem === undefined) return
  yield {
    severity: 'warning',
    code: 'no-possible-value',
    at: `/schema${fieldPointer(field.path)}/default`,
    version,
    msg: `"${field.path}": ${problem}; change the default or the constraint`,
  }
}
