"""The sentences that the router is trained and measured on. They were written for this; {word} is a blank that is filled at random."""

BLANKS = {
    "course": (
        "python", "statistics", "data science", "machine learning", "history", "chemistry", "english", "web design", "algebra", "sql"),
    "thing": (
        "course", "module", "class", "unit", "workshop", "training"),
    "piece": (
        "lesson", "video", "chapter", "quiz", "exercise", "assignment", "slide", "lecture"),
    "done": (
        "completed", "finished", "passed", "just completed", "have finished", "am done with", "did all of"),
    "fails": (
        "does not work", "is not working", "fails", "gives an error", "will not load", "keeps failing"),
    "not": (
        "was not", "is not", "has not been", "still is not", "was never", "isn't", "wasn't"),
    "when": (
        "yesterday", "today", "last week", "two days ago", "this morning", "on monday", "a month ago"),
    "number": (
        "one", "two", "three", "four", "5", "7", "10"),
    "card": (
        "credit card", "bank card", "visa card", "debit card"),
}
BEFORE = (
    "", "", "", "hello", "hi", "good morning", "dear team", "hi there", "hello support", "excuse me")
AFTER = (
    "", "", "", "what should i do", "please help", "can you help me", "thank you", "thanks in advance", "what can i do", "please advise",
    "who can help", "i need help")

TRAINING = {
    "certificate": (
        "i {done} the {course} {thing} but my certificate {not} there", "my certificate for {course} {not} sent",
        "where is my certificate", "how do i download my certificate", "the name on my certificate is wrong",
        "when will i get the certificate for the {thing}", "i {done} everything {when} and no certificate came",
        "the certificate of the {course} {thing} has a spelling mistake", "can i get a printed certificate",
        "my diploma for the {thing} {not} issued", "please send me my certificate again", "i lost my certificate can you send a copy",
        "does the {course} {thing} give a certificate", "is the certificate recognised", "my employer wants to verify my certificate",
        "the link to my certificate {fails}", "i need proof that i {done} the {thing}", "the certificate shows the wrong date",
        "how long does it take to receive a certificate", "please correct the name on my diploma",
        "i {done} {number} modules and expected a certificate", "the certificate pdf {fails}", "can i add the certificate to my profile",
        "i passed the exam {when} but got no diploma", "is there a certificate at the end of the {thing}",
        "the certificate {not} in my account", "how can i share my certificate with my employer", "my certificate {not} available yet",
        "which score do i need for the certificate", "the system did not create my certificate",
        "certificate missing after the {course} {thing}", "could you reissue the diploma of the {thing}",
        "do i get a diploma when i {done} {course}", "i would like to print my certificates", "my certificates are gone",
        "where do i see the certificates of my courses", "the school needs proof of my result in {course}",
        "my full name {not} on the certificate", "is a certificate issued for {course}", "the completion certificate {fails}",
        "it says completed but there is no certificate", "i want my certificate in english",
        "please generate the certificate for {course}", "does the diploma count for university",
        "the certificate arrived with the wrong {course} title", "my completion of the {thing} {not} recorded so no certificate"),
    "payment": (
        "my {card} was charged twice", "i want a refund for the {course} {thing}", "how can i pay for the {thing}", "the payment {fails}",
        "i paid {when} but the payment {not} confirmed", "please send me an invoice", "i need a receipt for the {course} {thing}",
        "how much does the {thing} cost", "is there a discount for students", "can i pay in {number} parts", "my {card} {not} accepted",
        "i was charged for a {thing} i did not buy", "the price of the {course} {thing} is wrong", "how do i cancel my subscription",
        "when will i get my money back", "the discount code {fails}", "can my company pay by bank transfer", "the invoice {not} correct",
        "i paid too much for the {thing}", "my payment was declined {when}", "do you take a {card}", "please refund the money i paid",
        "the checkout page {fails}", "why did the monthly fee go up", "the amount on the receipt is wrong", "is the {thing} free",
        "i cancelled {when} and was still charged", "my coupon {not} applied to the price", "i want to change the {card} on my account",
        "does the price include tax", "what does the {course} subscription cost a month", "the refund {not} on my bank account",
        "you billed me {when} for {course}", "there is an unknown bill from you on my {card}", "money was taken from my bank {when}",
        "i can not afford the {thing} is there a cheaper price", "why is {course} so expensive", "can i pay later",
        "do you offer a scholarship or a lower fee", "the transaction {fails}", "my bank rejected the payment for {course}",
        "i ordered the {thing} and the bill is too high", "stop the monthly charge please", "i want to end my paid plan",
        "how long does a refund take", "the payment for the {thing} is still pending", "please charge my other {card}"),
    "access": (
        "i can not log in", "my password {fails}", "i forgot my password", "the reset email {not} sent", "my account is locked",
        "i can not open the {course} {thing}", "the login page {fails}", "i have no access to the {thing}",
        "how do i change my email address", "the site says my account does not exist", "i can not sign in since {when}",
        "the {course} {thing} {not} in my account", "please unlock my account", "my account {not} activated",
        "i did not get the confirmation email", "how do i reset my password", "the app logs me out", "my user name {not} recognised",
        "i registered {when} but can not enter the {thing}", "access to the {course} {thing} is denied",
        "the link to join the {thing} {fails}", "how can i delete my account", "i have two accounts please merge them",
        "the code on my phone {fails}", "i was logged out and can not get back in", "can i use my account on two devices",
        "my access ended {when} please open it again", "the page says i have no permission",
        "i enrolled {when} but the {thing} does not appear", "i can not sign up with my email", "the app {fails} when i log in",
        "i lost the phone for the login code", "why am i blocked from the {thing}", "my profile is blocked",
        "i bought the {course} {thing} but it is locked for me", "the {thing} will not open", "it is impossible to log in",
        "the site refuses my password", "my old email is gone how do i sign in", "i never received the link to log in",
        "i can not reach the {thing} on my phone", "please give me access to {course}", "i see only access denied",
        "log in with my work email {fails}", "i changed my password and now i am locked out", "my login expired {when}",
        "i can not get into the class"),
    "content": (
        "the {piece} {number} of the {course} {thing} {fails}", "i do not understand {piece} {number}",
        "there is a mistake in the {piece}", "the {piece} has no sound", "the answer in {piece} {number} is wrong",
        "can you explain the {piece} about {course}", "where do i find the slides of the {thing}",
        "which {course} {thing} should i take first", "are there more exercises for {course}", "the subtitles of the {piece} are missing",
        "is there a {piece} on {course}", "how long is the {course} {thing}", "what do i learn in the {course} {thing}",
        "my solution of the {piece} was marked wrong", "the {piece} {not} clear to me", "i am stuck in {piece} {number}",
        "what is the deadline of the {piece}", "can i do the {piece} again", "do i need to know {course} first",
        "the sound of {piece} {number} is too low", "the code in the {piece} gives an error", "who teaches the {course} {thing}",
        "the example in {piece} {number} is confusing", "where can i download the material of the {thing}",
        "is the {course} {thing} for beginners", "my {piece} {not} graded yet", "how many lessons has the {course} {thing}",
        "i {done} {piece} {number} what comes next", "the question in the {piece} has two right answers",
        "can you add a {piece} about {course}", "the {piece} stops after {number} minutes",
        "i {done} the {thing} but did not understand the last {piece}", "the {piece} is too hard for me",
        "the explanation in {piece} {number} is difficult to understand", "i think the solution in the {piece} is wrong",
        "i can not hear anything in the {piece}", "please explain the last {piece}", "what should i know before {course}",
        "what level is the {course} {thing}", "i am a beginner is {course} too difficult",
        "when does {piece} {number} of the {thing} open", "the {piece} ends in the middle", "is the {piece} also in english",
        "the quiz asks about something not in the {thing}", "how do i hand in the {piece}", "can i see the answers of the {piece}",
        "the text of {piece} {number} has many errors"),
    "other": (
        "thank you very much", "you have a great team", "what are your opening hours", "do you have a job for me", "where is your office",
        "i want to work for you", "what is the weather {when}", "tell me a joke", "who won the game {when}", "what time is it",
        "can you recommend a restaurant", "i want to book a flight", "how are you", "nice to meet you", "my dog is ill",
        "what is your name", "are you a robot", "i like music", "how do i cook rice", "where can i buy a car",
        "i want to speak to a person", "good night", "i am bored", "what do you think about football", "the bus was late {when}",
        "can you write a poem", "who is the president", "we would like to interview your director", "do you sell books",
        "i want to be your partner", "the food was cold {when}", "my phone is broken", "please call my mother", "is it going to rain",
        "translate this word for me", "happy birthday", "did you see the game {when}", "a funny story please", "do you like the weather",
        "are you hiring people", "which jobs do you have", "i would like to become a member of your staff",
        "how do i get to your office by bus", "in which city are you", "which film should i see", "my car does not start",
        "the train is late", "who wrote this song", "how far is the moon", "what should i eat today", "find me a hotel",
        "the shop sold me a bad phone", "my house is cold", "is there life on other stars", "which team is the best",
        "turn off the music", "how old are you", "can you call a taxi", "i have a pain in my arm", "when does the shop open",
        "which shirt should i wear", "my sister has a new baby", "how many people live in the city", "set a timer for {number} minutes",
        "the water in the kitchen is cold", "what is the biggest animal", "how do birds fly", "you are doing a great job",
        "let me talk to someone", "the {course} of the river is long", "i {done} my dinner", "how tall is the tower",
        "what is the capital of the country"),
}

HELD_OUT = {  # training never uses these, and they were written after the training was settled
    "certificate": (
        "i reached the end of the {course} {thing} and there is no certificate to download", "will i be given a diploma after {course}",
        "the certificate you gave me carries somebody else's name", "a month has gone by without my {course} certificate",
        "i passed the final quiz of {course} so where is the diploma", "the company asks me to show a certificate for the {thing}",
        "can the date on the certificate be corrected", "certificate for {course} cannot be printed",
        "did my certificate get lost in the post", "i {done} the {course} {thing} but my certificate was not generated"),
    "payment": (
        "i have been charged although the {thing} was cancelled", "which cards do you accept",
        "my {card} payment for {course} keeps failing", "i need the bill for {course} for my tax office",
        "we were promised a discount but paid the full price", "the refund for the {thing} never came",
        "can the invoice be sent to my company", "is there a way to pay each month", "what is the total price of {course} with tax",
        "twice the amount was taken for one {thing}"),
    "access": (
        "my password is right but the site will not let me in", "the account i made {when} is gone",
        "logging in takes me to an empty page", "how can i get back into my locked account", "no reset link reached my email",
        "the {course} {thing} is still locked although i am enrolled", "i have forgotten which email i used to register",
        "my brother used my login and now it is blocked", "the app asks for a code that i do not have", "please activate my account again"),
    "content": (
        "i got lost in {piece} {number} of {course}", "the slides have a wrong example", "does the {course} {thing} cover the basics",
        "the teacher speaks too fast in the {piece}", "why is my answer to question {number} marked as wrong",
        "i can not find {piece} {number}", "what will i know at the end of the {course} {thing}", "please add subtitles to the {piece}",
        "is there homework in the {course} {thing}", "the picture in {piece} {number} does not match the text"),
    "other": (
        "have you heard the news {when}", "i am looking for a job as a teacher", "what will the weather be like",
        "who is your favourite singer", "how far is it to the station", "please give my regards to your director",
        "could i visit your office", "let me speak with a human", "it was a lovely day", "my neighbour plays loud music"),
}

OUT_OF_SCOPE = (  # nothing an academy could answer; written like the held-out sentences, many of their words never come in training
    "the volcano erupted again", "how do bees make honey", "my roof needs new tiles", "where is the nearest pharmacy",
    "which wine suits fish", "our goldfish stopped eating", "is it safe to swim here", "the concert was sold out",
    "how many legs has a spider", "my knee hurts when i run", "who discovered america", "can you knit a scarf",
    "the museum is closed on tuesdays", "what rhymes with orange", "my passport is about to expire", "do elephants sleep standing up",
    "wake me at seven", "the soup needs more salt", "why is the sky blue", "i missed my flight to rome", "paint the fence green",
    "when was the castle built", "the neighbours are noisy", "how heavy is a whale", "is coffee bad for you",
    "the printer is out of paper", "my grandmother turns ninety", "which bus goes to the airport", "a storm is coming",
    "convert ten miles to kilometres")
