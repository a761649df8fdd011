import { dirname, resolve } from 'node:path'
import type { FieldReader } from './field-reader.ts'
import type { PemSource } from './kubeconfig.ts'

/** What stands in the file itself wins over what it points to. */
export function readPem(part: FieldReader, name: string, path: string): PemSource | undefined {
  const pem = part.decoded(`${name}-data`)
  if (pem !== '') return { kind: 'data', pem }
  const file = part.text(name)
  return file === '' ? undefined : { kind: 'file', path: resolve(dirname(path), file) }
}
