import { ask } from '../session.ts'
import { toLogParameters } from './use-log.ts'
import type { LogViewOptions } from './use-log.ts'

/** Saves all that the node has of a log, as it is: also what was rotated away, and more than the page shows. */
export async function saveLog(path: string, name: string, options: LogViewOptions): Promise<void> {
  const answer = await ask(`${path}?${new URLSearchParams(toLogParameters(options)).toString()}`)
  const url = URL.createObjectURL(await answer.blob())
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  URL.revokeObjectURL(url)
}
