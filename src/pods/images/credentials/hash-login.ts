import { createHash } from 'node:crypto'
import { goJson } from '../../../model/text/go-json.ts'
import type { Login } from './credential.ts'

/** A fingerprint of a login, the same as the Go kubelet's, so that either reads the records of the other. */
export function hashLogin({ username, password }: Login): string {
  const given = Object.entries({ username, password }).filter(([, value]) => value !== '')
  return createHash('sha256')
    .update(goJson(Object.fromEntries(given)))
    .digest('hex')
}
