/** How much files log whose names are such. */
export interface FileVerbosity {
  /** With "*", "?" and "[a-z]" as in file names. */
  readonly filePattern: string
  readonly verbosity: number
}

/** How much a file logs by its own rules; the first that fits counts, and 0 is none. */
export function computeFileVerbosity(rules: readonly FileVerbosity[], file: string): number {
  const path = file.replace(/\.[cm]?[jt]s$/, '')
  const name = path.slice(path.lastIndexOf('/') + 1)
  const found = rules.find(({ filePattern }) => toRegExp(filePattern).test(filePattern.includes('/') ? path : name))
  return found?.verbosity ?? 0
}

/** A star does not reach over a slash. A path counts from any folder on. */
function toRegExp(pattern: string): RegExp {
  const body = pattern.replace(/\[[^\]/]+\]|[\s\S]/g, (part) => {
    if (part === '*') return '[^/]*'
    if (part === '?') return '[^/]'
    return part.length > 1 ? part.replaceAll('\\', '') : part.replace(/[\\^$.|+(){}[\]]/, '\\$&')
  })
  return new RegExp(pattern.includes('/') ? `(?:^|/)${body}$` : `^${body}$`)
}
