/** Our error codes as Lightblue names them. */
import type { Code } from '../../base/errors.ts'

/** Codes that differ by more than the prefix of the store. */
const NAMES: Partial<Record<Code, string>> = {
  'store-crud:SaveError': 'mongo-crud:SaveError:InsertionAttemptWithNoUpsert',
  'store-crud:Timeout': 'crud:DataSourceTimeout',
  'crud:UnknownEntity': 'mongo-metadata:UnknownVersion',
  'crud:NoDefaultVersion': 'crud',
  'crud:InvalidLock': 'rest-crud:RestError',
  'metadata:MissingSchema': 'mongo-metadata:UnknownVersion',
  'metadata:MissingEntityInfo': 'mongo-metadata:MissingEntityInfo',
  'metadata:DuplicateSchema': 'mongo-metadata:DuplicateMetadata',
  'metadata:DisabledDefaultVersion': 'mongo-metadata:DisabledDefaultVersion',
  'metadata:CannotDeleteEntity': 'mongo-metadata:CannotDeleteEntity',
  'metadata:UpdateInvalidatesMetadata': 'mongo-metadata:UpdateInvalidatesMetadata',
  'metadata:InvalidDatastore': 'mongo-metadata:InvalidDatastore',
  'metadata:NoEntityName': 'metadata:ParseMissingElement',
}

export function lightblueCode(code: string): string {
  return NAMES[code as Code] ?? code.replace(/^store-crud:/, 'mongo-crud:')
}
