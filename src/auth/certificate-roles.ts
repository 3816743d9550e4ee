/** Roles that the configuration gives to subjects of client certificates. */

/** Attribute in upper case → its values. */
export type Subject = ReadonlyMap<string, readonly string[]>

export interface CertificateRole {
  /** A certificate whose subject has all these values has the roles. */
  readonly subject: Subject
  readonly roles: readonly string[]
}

export function rolesOfSubject(subject: Subject, table: readonly CertificateRole[] = []): readonly string[] {
  return table.filter((entry) => isPart(entry.subject, subject)).flatMap(({ roles }) => roles)
}

function isPart(wanted: Subject, subject: Subject): boolean {
  return [...wanted].every(([name, values]) =>
    values.every((value) => subject.get(name)?.includes(value) === true),
  )
}
