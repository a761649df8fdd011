import { basename, dirname } from 'node:path'
import { createRecordFolder } from '../host/record-folder.ts'
import { parseKeyedCertificate } from './x509/certificate-files.ts'
import type { KeyedCertificate } from './x509/certificate-files.ts'

/** A certificate and its key in files of their own; the two may be one. */
export interface CertificateFiles {
  readonly certificateFile: string
  readonly keyFile: string
}

/** The text of a file, undefined when there is none; throws for whatever cannot be read, a link to nothing for instance. */
export async function readPem(path: string): Promise<string | undefined> {
  return await createRecordFolder(dirname(path)).read(basename(path))
}

/** The certificate and key in two files; undefined when one is not there, throws when they are not what they should be. */
export async function readCertificateFiles({
  certificateFile,
  keyFile,
}: CertificateFiles): Promise<KeyedCertificate | undefined> {
  const [certificate, key] = [await readPem(certificateFile), await readPem(keyFile)]
  return certificate === undefined || key === undefined ? undefined : parseKeyedCertificate(certificate, key)
}
