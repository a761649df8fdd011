import { basename } from 'node:path'
import { isRecord } from '../../base/document/is-record.ts'

/** A file of the user that is not used as it is: a manifest, or one of the folder of --apply. */
export interface FileProblem {
  readonly file: string
  /** From 1. */
  readonly line?: number | undefined
  /** The object that it is about, as in "Pod default/web". */
  readonly object?: string | undefined
  readonly reason: string
  /** What an earlier version of the file said goes on. */
  readonly hasLastGood?: boolean | undefined
  /** What else is in the file, as in "default/web". */
  readonly names?: readonly string[] | undefined
}

/** "web.yaml:3: Pod default/web: …" */
export function formatFileProblem({ file, line, object, reason, hasLastGood }: FileProblem): string {
  const place = line === undefined ? file : `${file}:${line}`
  const rest = hasLastGood === true ? ' (its last good version goes on)' : ''
  return `${place}: ${object === undefined ? '' : `${object}: `}${reason}${rest}`
}

/** Whether a name that a user asks about is that of the file or the object: "web", "web.yaml", "default/web". */
export function concernsName({ file, object = '', names = [] }: FileProblem, name: string): boolean {
  const own = basename(file)
  const [, full = ''] = object.split(' ')
  const objects = [full, ...names].flatMap((each) => [each, each.split('/').at(-1)])
  return [file, own, own.replace(/\.[^.]+$/, ''), object, ...objects].includes(name)
}

/** What an earlier process has written down; a damaged file is like none. */
export function parseFileProblems(text: string | undefined): readonly FileProblem[] {
  try {
    const problems: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(problems)
      ? problems.filter((each): each is FileProblem => isRecord(each) && typeof each['file'] === 'string')
      : []
  } catch {
    return []
  }
}
