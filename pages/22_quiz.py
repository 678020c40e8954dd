"""Quiz: questions to recall, questions with fresh numbers, and a look back."""

from core import questions
from core.questions import marking
from pages.shared import controls, lesson, quiz, reflection

PAGE = quiz.PAGE
VIEWS = ("recall", "questions", "look back")

if controls.own_tokens()[0]:
    lesson.remarks(["The quiz has numbers of its own. Your sentence is kept for the other pages."])
view = controls.choice(PAGE, "view", "What to do", VIEWS)

made = []
if view == "recall":
    lesson.ask(PAGE, "You have read a text once and want to know it next week. Which helps more: to read it again, or to recall it without "
               "looking?", ["read it again", "recall it", "both alike"], 1, "In Roediger & Karpicke 2006, students who read a text twice "
               "remembered more of it five minutes later. After two days and after a week, those who had recalled it instead remembered "
               "more. So: answer first, then look.")
    lesson.say("Six questions on what the course rests on. Think of your own answer before you read the choices: saying it is what makes "
               "it stay. The answers are worked out with the numbers of the pages.")
    every = quiz.recalled()
    places = [str(i) for i in range(1, len(every) + 1)]
    place = places.index(controls.choice(PAGE, "recall", "Question", places))
    question = every[place]
    quiz.present(f"recall {place}", question, lambda: quiz.own_words(place))
    quiz.next_recall(places, place)
elif view == "questions":
    lesson.say(f"{len(questions.KINDS)} kinds of questions, each with numbers drawn anew, computed and marked by the code that draws the "
               "pages. Paper and pencil do for most; where a calculator helps, the question says so.")
    name, question, which = quiz.ask_which()
    marked = quiz.present(name, question)
    quiz.onward(which)
    quiz.class_link(which)
    made = [questions.draw] + [questions.KINDS[question.kind]] * marked  # how it is computed is shown when it was marked
else:
    lesson.say("What you can explain, you know. Write for yourself: nothing here is marked. Your words are held for this visit alone, "
               "neither stored nor put into the address, and gone when you reload or close the tab. Save your page to keep it.")
    reflection.export(reflection.ask())

quiz.score_panel()

lesson.weights("The numbers of the questions are drawn at random from the class code; they mean nothing in themselves. The examples to "
               "recall are those of the pages: set by hand, or drawn at random and never trained.")
if view == "look back":
    quiz.audit(quiz.recalled()[0])
else:
    quiz.audit(question)
lesson.ran(marking.mark, *made)
lesson.source("Vaswani et al. 2017, section 3 and table 1", "Roediger & Karpicke 2006, “Test-Enhanced Learning”, experiment 1")
