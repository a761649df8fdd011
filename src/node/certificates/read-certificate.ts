import { basename, dirname } from 'node:path'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import { createRecordFolder } from '../../system/files/state/create-record-folder.ts'
import type { PemSource } from '../../protocols/kube-api/kubeconfig/kubeconfig.ts'
import type { CertificateSource } from './kubeconfig-info.ts'
import { parseKeyedCertificate } from '../../protocols/x509/certificate-files.ts'
import type { KeyedCertificate } from '../../protocols/x509/certificate-files.ts'

/** A certificate and its key in files of their own; the two may be one. */
export interface CertificateFiles {
  readonly certificateFile: string
  readonly keyFile: string
}

/** A certificate that could be read and makes no sense. */
export class BrokenCertificateError extends Error {
  override readonly name = 'BrokenCertificateError'
}

/** Undefined when there is no such file; throws for whatever cannot be read, a link to nothing for instance. */
async function readSource(source: PemSource): Promise<string | undefined> {
  if (source.kind === 'data') return source.pem
  return await createRecordFolder(dirname(source.path)).read(basename(source.path))
}

/** The certificate and key in two files; undefined when one is not there, throws BrokenCertificateError when they are not what they should be. */
export async function readCertificateFiles({
  certificateFile,
  keyFile,
}: CertificateFiles): Promise<KeyedCertificate | undefined> {
  return await readCertificateSource({
    certificate: { kind: 'file', path: certificateFile },
    key: { kind: 'file', path: keyFile },
  })
}

/** The same for data inside a kubeconfig file. */
export async function readCertificateSource(source: CertificateSource): Promise<KeyedCertificate | undefined> {
  const [certificate, key] = [await readSource(source.certificate), await readSource(source.key)]
  if (certificate === undefined || key === undefined) return undefined
  try {
    return parseKeyedCertificate(certificate, key)
  } catch (error) {
    throw new BrokenCertificateError(errorMessage(error), { cause: error })
  }
}
