import { errorMessage } from '../../../base/telemetry/error-text.ts'

/** Why a file could not be read, without the path that the reader already knows. */
export function toReadFault(error: unknown): string {
  const code = Error.isError(error) && 'code' in error ? String(error.code) : undefined
  switch (code) {
    case 'ENOENT':
      return 'there is no such file'
    case 'EISDIR':
      return 'it is a folder, expected a file'
    case 'EACCES':
    case 'EPERM':
      return 'there is no permission to read it'
    default:
      return code ?? errorMessage(error)
  }
}
