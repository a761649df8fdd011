interface CommandStatus {
  readonly status?: string
  readonly message?: string
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] }
}

/** How a command ended, of the status that the server sends last. */
export function parseCommandEnd(text: string): string {
  try {
    const { status, message, details } = JSON.parse(text) as CommandStatus
    if (status === 'Success') return 'ended with exit code 0'
    const code = details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message
    if (code !== undefined) return `ended with exit code ${code}`
    return message ?? 'ended, the server does not say how'
  } catch {
    return 'ended, the server does not say how'
  }
}
