import { isRecord } from '../../base/document/is-record.ts'

/** How a remote command ended, as its server reported it. */
export interface CommandEnd {
  /** Of the protocol; from version 4 on the server sends a whole Status, before that only text, and only of a failure. */
  readonly version: number
  /** All that came on the error stream. */
  readonly reported: string
  /** Why the connection ended before the command did. */
  readonly failure?: string | undefined
}

export const UNREPORTED = 'the runtime did not report how the command ended'

/** What goes to the client on the error channel: a Status of Kubernetes as JSON. */
export function computeCommandStatus({ version, reported, failure }: CommandEnd): string {
  if (version >= 4 && isStatus(reported)) return reported
  if (failure !== undefined) return failureStatus(failure)
  if (reported === '') return version >= 4 ? failureStatus(UNREPORTED) : SUCCESS
  return failureStatus(`error executing remote command: ${reported}`)
}

const SUCCESS = JSON.stringify({ metadata: {}, status: 'Success' })

/** A Status for a command that could not be run, or of which the end is not known. */
export function internalErrorStatus(message: string): Readonly<Record<string, unknown>> {
  return {
    metadata: {},
    status: 'Failure',
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: { causes: [{ message }] },
    code: 500,
  }
}

function failureStatus(message: string): string {
  return JSON.stringify(internalErrorStatus(message))
}

function isStatus(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) && 'status' in value
  } catch {
    return false
  }
}
