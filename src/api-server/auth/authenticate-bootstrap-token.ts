import { createHash, timingSafeEqual } from 'node:crypto'
import type { AuthenticationResult } from './authenticate-client-certificate.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import { authenticated, BOOTSTRAP_GROUP, BOOTSTRAP_PREFIX } from './user-names.ts'

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/
const SECRET_TYPE = 'bootstrap.kubernetes.io/token'

/** Whether a text has the form of a bootstrap token at all. */
export function isLikelyBootstrapToken(token: string): boolean {
  return TOKEN.test(token)
}

/** The user of a bootstrap token: a future node, which may ask for its certificate. */
export function authenticateBootstrapToken(token: string, objects: ObjectReader, now: number): AuthenticationResult {
  const [, id = '', sent = ''] = TOKEN.exec(token) ?? []
  const name = `bootstrap-token-${id}`
  const secret = objects.get({ resource: 'secrets', namespace: 'kube-system', name })
  const value = (key: string) => Buffer.from(secret?.data?.[key] ?? '', 'base64').toString('utf8')
  // Compared in any case, so that the time it takes does not reveal which tokens exist.
  const isRight = isEqual(value('token-secret'), sent)
  if (id === '' || secret === undefined || !isRight) return { fault: 'there is no such bootstrap token' }
  if (secret.type !== SECRET_TYPE)
    return { fault: `the secret of the bootstrap token is not of the type ${SECRET_TYPE}` }
  if (secret.metadata.deletionTimestamp !== undefined) return { fault: 'the bootstrap token is being deleted' }
  if (value('token-id') !== id) return { fault: 'the secret of the bootstrap token is for another one' }
  if (hasExpired(value('expiration'), now)) return { fault: 'the bootstrap token has expired' }
  if (value('usage-bootstrap-authentication') !== 'true')
    return { fault: 'the bootstrap token is not for authentication' }
  const groups = value('auth-extra-groups')
    .split(',')
    .map((group) => group.trim())
    .filter(Boolean)
  if (!groups.every((group) => EXTRA_GROUP.test(group)))
    return { fault: 'the bootstrap token has groups that it may not have' }
  return { user: authenticated({ name: `${BOOTSTRAP_PREFIX}${id}`, groups: [BOOTSTRAP_GROUP, ...groups] }) }
}

function isEqual(left: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(left), digest(right)) && left !== ''
}

/** A time that cannot be read counts as over. */
function hasExpired(text: string, now: number): boolean {
  if (text === '') return false
  return !(Date.parse(text) > now)
}
