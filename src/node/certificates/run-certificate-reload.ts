import { dirname } from 'node:path'
import type { Clock } from '../../base/async/clock.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import { watchDirectory } from '../../system/files/watch-directory.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import type { CurrentCertificate } from './current-certificate.ts'
import type { CertificateFiles } from './read-certificate.ts'
import type { KeyedCertificate } from '../../protocols/x509/certificate-files.ts'

export interface ReloadDeps {
  readonly files: CertificateFiles
  /** What is there now; fails when it cannot be used. */
  readonly load: () => Promise<KeyedCertificate>
  readonly current: CurrentCertificate
  readonly clock: Clock
  readonly log: Logger
}

/** Changes that the kernel does not report, such as those behind a link, are seen after this at the latest. */
const CHECK_EVERY_MS = 60_000

/** Loads a certificate again when its files change; the one in use stays while the files are not valid. */
export async function runCertificateReload(deps: ReloadDeps, signal: AbortSignal): Promise<never> {
  const { current, clock, log, files } = deps
  const wakeup = new Wakeup()
  using stack = new DisposableStack()
  for (const folder of new Set([dirname(files.certificateFile), dirname(files.keyFile)])) {
    watch(stack, folder, { wakeup, log })
  }
  // They may have changed since they were loaded first.
  wakeup.wake()
  for (let fault = ''; ;) {
    await wakeup.wait({ clock, ms: CHECK_EVERY_MS }, signal)
    try {
      const loaded = await deps.load()
      fault = ''
      const { held } = current
      if (held?.certificatePem === loaded.certificatePem && held.keyPem === loaded.keyPem) continue
      current.replace(loaded)
      log.info('the serving certificate was reloaded', { ...files, until: loaded.certificate.validToDate })
    } catch (error) {
      const text = errorMessage(error)
      // While certificate and key are written one after the other they do not fit: only what lasts, or is new, is worth a line.
      if (text === fault) continue
      fault = text
      log.warn('cannot reload the serving certificate, keeping the current one', { ...files, error })
    }
  }
}

/** Without a watch the check once a minute remains. */
function watch(stack: DisposableStack, folder: string, deps: { readonly wakeup: Wakeup; readonly log: Logger }): void {
  const onFailure = (error: unknown) => deps.log.warn('cannot watch the folder of a certificate', { folder, error })
  try {
    stack.use(watchDirectory(folder, { onChange: () => deps.wakeup.wake(), onFailure }))
  } catch (error) {
    onFailure(error)
  }
}
