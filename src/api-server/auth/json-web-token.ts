import { createHash, createPublicKey, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { isRecord } from '../../base/document/is-record.ts'

/** The statements of a token. Times in seconds since the epoch. */
export interface TokenClaims {
  readonly iss: string
  readonly sub: string
  readonly aud: readonly string[]
  readonly exp: number
  readonly iat: number
  readonly nbf: number
  readonly jti: string
  readonly 'kubernetes.io': KubernetesClaims
}

export interface ClaimedObject {
  readonly name: string
  readonly uid: string
}

export interface KubernetesClaims {
  readonly namespace: string
  readonly serviceaccount: ClaimedObject
  readonly pod?: ClaimedObject
  readonly secret?: ClaimedObject
  readonly node?: ClaimedObject
}

// More than any of ours has.
const LONGEST_TOKEN = 8192

/** Tokens of one key: signed with ES256, and read only when they are. */
export class TokenSigner {
  readonly #key: KeyObject
  readonly #publicKey: KeyObject
  readonly #keyId: string

  constructor(key: KeyObject) {
    this.#key = key
    this.#publicKey = createPublicKey(key)
    const spki = this.#publicKey.export({ type: 'spki', format: 'der' })
    this.#keyId = createHash('sha256').update(spki).digest('base64url')
  }

  sign(claims: TokenClaims): string {
    const head = toPart({ alg: 'ES256', kid: this.#keyId })
    const text = `${head}.${toPart(claims)}`
    const signature = sign('sha256', Buffer.from(text), { key: this.#key, dsaEncoding: 'ieee-p1363' })
    return `${text}.${signature.toString('base64url')}`
  }

  /** The statements of a token that this key signed; undefined for any other text. */
  read(token: string): TokenClaims | undefined {
    const parts = token.split('.')
    const [head = '', body = '', signature = ''] = parts
    if (token.length > LONGEST_TOKEN || parts.length !== 3) return undefined
    const header = fromPart(head)
    if (header?.['alg'] !== 'ES256' || header['kid'] !== this.#keyId) return undefined
    const key = { key: this.#publicKey, dsaEncoding: 'ieee-p1363' as const }
    if (!verify('sha256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))) return undefined
    const claims = fromPart(body)
    return claims !== undefined && isClaims(claims) ? claims : undefined
  }
}

/** Whether a text has the form of a token at all. */
export function isLikelyToken(text: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)
}

function toPart(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function fromPart(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The key has signed it, so it is ours; this guards against what an older version may have written. */
function isClaims(value: Readonly<Record<string, unknown>>): value is Readonly<Record<string, unknown>> & TokenClaims {
  const own = value['kubernetes.io']
  const hasTexts = ['iss', 'sub', 'jti'].every((name) => typeof value[name] === 'string')
  const hasTimes = ['exp', 'iat', 'nbf'].every((name) => Number.isFinite(value[name]))
  const isAudience = Array.isArray(value['aud']) && value['aud'].every((each) => typeof each === 'string')
  if (!hasTexts || !hasTimes || !isAudience || !isRecord(own)) return false
  const objects = ['pod', 'secret', 'node'].every((name) => own[name] === undefined || isNamed(own[name]))
  return objects && isNamed(own['serviceaccount']) && typeof own['namespace'] === 'string'
}

function isNamed(value: unknown): value is ClaimedObject {
  return isRecord(value) && typeof value['name'] === 'string' && typeof value['uid'] === 'string'
}
