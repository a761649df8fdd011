/**
 * What one request asks and which part of its answer counts. Texts in path, headers and body may name earlier answers of the case: "$(pod.metadata.uid)" is
 * the uid in the answer that was kept as "pod"; "$(ns)" is the namespace of the table.
 */
export interface ContractStep {
  /** "GET", "POST", "PUT", "DELETE", "WATCH", or a patch with its kind: "PATCH:json", "PATCH:merge", "PATCH:strategic", "PATCH:apply". */
  readonly verb: string
  readonly path: string
  /** A value is sent as JSON, a text as it is. */
  readonly body?: unknown
  readonly user?: ContractUser
  readonly headers?: Readonly<Record<string, string>>
  /** A name for later steps to refer to this answer by. */
  readonly keep?: string
  /** How many events of a watch are read; without, all until the server ends it. */
  readonly events?: number
  /**
   * What of the answer counts: all of it by default; "code" is the status and its reason; a list of paths such as "metadata.name" are these parts of
   * the body; a function makes it smaller.
   */
  readonly shows?: 'all' | 'code' | readonly string[] | ((body: unknown) => unknown)
  /** Whether the request is sent again for some seconds until the answer has this status, for what controllers do later. */
  readonly until?: number
}

/** Who asks: an administrator, the node "node-1", a user without rights, or nobody at all. */
export type ContractUser = 'admin' | 'node' | 'stranger' | 'anonymous'

/** Requests that follow each other; each answer counts. */
export interface ContractCase {
  /** Unlike those of all other cases of its table. */
  readonly name: string
  readonly steps: readonly ContractStep[]
}

/** Cases about one subject, run in their order in a namespace of their own. */
export interface ContractTable {
  /** Also the name of the namespace and of the file with the recorded answers. */
  readonly name: string
  readonly cases: readonly ContractCase[]
}

/** An answer without what changes from run to run. */
export interface ContractAnswer {
  readonly status: number
  readonly type?: string
  readonly warnings?: readonly string[]
  readonly retryAfter?: string
  readonly body?: unknown
}

type StepOptions = Omit<ContractStep, 'verb' | 'path' | 'body'>

export const get = (path: string, options: StepOptions = {}): ContractStep => ({ verb: 'GET', path, ...options })
export const post = (path: string, body: unknown, options: StepOptions = {}): ContractStep => {
  return { verb: 'POST', path, body, ...options }
}
export const put = (path: string, body: unknown, options: StepOptions = {}): ContractStep => {
  return { verb: 'PUT', path, body, ...options }
}
export const remove = (path: string, body?: unknown, options: StepOptions = {}): ContractStep => {
  return { verb: 'DELETE', path, ...(body === undefined ? {} : { body }), ...options }
}
export const patch = (
  kind: 'json' | 'merge' | 'strategic' | 'apply',
  path: string,
  body: unknown,
  options: StepOptions = {},
): ContractStep => ({ verb: `PATCH:${kind}`, path, body, ...options })
export const watch = (path: string, events: number | undefined, options: StepOptions = {}): ContractStep => {
  return { verb: 'WATCH', path, ...(events === undefined ? {} : { events }), ...options }
}

/** A case from its name and steps. */
export function each(name: string, ...steps: readonly ContractStep[]): ContractCase {
  return { name, steps }
}
