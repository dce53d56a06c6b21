// Every error that this client throws on purpose. A message never holds a person's value: messages end up in logs.

// The names are written out, since a bundle may rename classes.
const kind = (name, base = DeniableError) =>
  class extends base {
    get name() {
      return name;
    }
  };

export const DeniableError = kind("DeniableError", Error);
export const InvalidParameter = kind("InvalidParameter");
export const InvalidSurvey = kind("InvalidSurvey", InvalidParameter);
export const InvalidLaw = kind("InvalidLaw", InvalidParameter);
InvalidLaw.prototype.notice =
  "This device could not verify that this survey protects your answers.";
export const OutsideDomain = kind("OutsideDomain");
export const EmptyBatch = kind("EmptyBatch");
export const InvalidReport = kind("InvalidReport");
export const SurveyMismatch = kind("SurveyMismatch");
export const BudgetSpent = kind("BudgetSpent");
export const NoRandomness = kind("NoRandomness");
export const Unavailable = kind("Unavailable");
