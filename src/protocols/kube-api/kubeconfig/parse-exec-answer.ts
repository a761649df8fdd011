import type { KubeCredentials } from '../transport/kube-credentials.ts'
import { isRecord } from '../../../base/document/is-record.ts'

export interface ExecAnswer {
  readonly credentials: KubeCredentials
  /** Milliseconds since the epoch; undefined: for as long as the server takes them. */
  readonly expiresAt: number | undefined
}

/** What a credential program wrote: an ExecCredential with a token, a certificate, or both. */
export function parseExecAnswer(text: string, apiVersion: string, fault: (problem: string) => Error): ExecAnswer {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    throw fault('its answer is not JSON')
  }
  const { kind, apiVersion: version, status } = toRecord(answer)
  if (kind !== 'ExecCredential') throw fault('the kind of its answer is not ExecCredential')
  if (version !== apiVersion)
    throw fault(`the apiVersion of its answer is not ${apiVersion}, which the kubeconfig names`)
  const fields = toRecord(status)
  const read = (name: string): string => {
    const value = fields[name] ?? ''
    if (typeof value !== 'string') throw fault(`status.${name} of its answer is not text`)
    return value
  }
  const [token, certificatePem, keyPem] = [read('token'), read('clientCertificateData'), read('clientKeyData')]
  if ((certificatePem === '') !== (keyPem === '')) throw fault('its answer has only one of certificate and key')
  if (token === '' && certificatePem === '') throw fault('its answer has neither a token nor a certificate')
  const end = read('expirationTimestamp')
  const expiresAt = end === '' ? undefined : Date.parse(end)
  if (Number.isNaN(expiresAt)) throw fault('status.expirationTimestamp of its answer is not a time')
  return {
    credentials: {
      certificate: certificatePem === '' ? undefined : { certificatePem, keyPem },
      headers: token === '' ? {} : { authorization: `Bearer ${token}` },
    },
    expiresAt,
  }
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {}
}
