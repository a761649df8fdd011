import { useEffect, useState } from 'preact/hooks'
import type { AccessQuestion } from '../../messages/page-message.ts'
import { change } from '../session.ts'

/** Which of these the user may do; none as long as it is not known, or cannot be asked. */
export function useAccess(questions: readonly Partial<AccessQuestion>[]): readonly boolean[] {
  const asked = JSON.stringify(questions)
  const [known, setKnown] = useState<{ readonly asked: string; readonly answers: readonly boolean[] }>()
  useEffect(() => {
    let isCurrent = true
    if (asked === '[]') return
    void change<readonly boolean[]>('/access', { method: 'POST', body: JSON.parse(asked) as object }).then(
      (answers) => {
        if (isCurrent) setKnown({ asked, answers })
      },
      () => {},
    )
    return () => {
      isCurrent = false
    }
  }, [asked])
  return known?.asked === asked ? known.answers : questions.map(() => false)
}
